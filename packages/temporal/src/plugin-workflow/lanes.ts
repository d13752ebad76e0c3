/** Gives each activity in progress a lane that no other has, the lowest that is free. */
export class Lanes {
  readonly #taken = new Set<number>();
  #wereUsed = false;

  /** Whether any activity was begun. */
  get wereUsed(): boolean {
    return this.#wereUsed;
  }

  async during<Result>(work: (lane: number) => Promise<Result>): Promise<Result> {
    let lane = 0;
    while (this.#taken.has(lane)) lane += 1;
    this.#taken.add(lane);
    this.#wereUsed = true;
    try {
      return await work(lane);
    } finally {
      this.#taken.delete(lane);
    }
  }
}
