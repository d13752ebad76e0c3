import { Component } from "react";
import type { ReactNode } from "react";

interface BoundaryProps {
  /** What is shown. Once it changes, showing it is tried again. */
  readonly of: unknown;
  /** What is shown instead, if that fails. */
  readonly fallback: ReactNode;
  readonly children: ReactNode;
}

/** Keeps a fault in what it has from taking the whole page: without one, React removes all that it has rendered. */
export class Boundary extends Component<BoundaryProps, { readonly failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true };
  }

  override componentDidUpdate(before: BoundaryProps): void {
    if (this.state.failed && before.of !== this.props.of) this.setState({ failed: false });
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
