import type { Json, JsonObject } from "@millrace/core";
import type { ModelRequest, ModelSettings } from "@millrace/core/ports";

/** How one family of APIs takes the settings that all share. Data: documents print it, and tests walk it. */
export interface SettingsTable {
  /** The subject of a refusal, such as `Anthropic's Messages API`. */
  readonly vendor: string;
  /** Where the vendor's own tools are, as a path. Default: `tools`. */
  readonly tools?: string;
  readonly rows: SettingRows;
}

/** A setting that all vendors share. */
export type SettingName = keyof ModelSettings;

/** A row for each setting, so that none is forgotten. */
export type SettingRows = {
  readonly [Name in SettingName]-?: SettingRow<NonNullable<ModelSettings[Name]>>;
};

/** What becomes of a setting. It is sent, or the vendor does it without being asked, or it is refused. */
export type SettingRow<Value> = SentSetting<Value> | InherentSetting<Value> | RefusedSetting;

/** A setting that has fields in the vendor's request. */
export interface SentSetting<Value> {
  readonly kind: "sent";
  /** The vendor's fields, as paths such as `generationConfig.topP`. */
  readonly as: readonly string[];
  /** Other fields of the vendor for the same thing. Beside the setting they are refused, as `as` is. */
  readonly rivals?: readonly string[];
  /** What of it is not taken, and for which models, in the words of a document. */
  readonly limits?: string;
  /** The fields for a value, or what to do instead. No fields: the model does so by itself. */
  readonly fields: (value: Value, given: SettingContext) => JsonObject | string;
  /**
   * The value in a conversation whose settings say nothing of it, neither by this name nor by the vendor's.
   * Undefined: none.
   */
  readonly inConversation?: (
    conversation: NonNullable<ModelRequest["conversation"]>,
    given: SettingContext,
  ) => ModelSettings[SettingName];
  /** True for a value that is the vendor's own of this name. It is sent as it is. */
  readonly isOwn?: (value: Json) => boolean;
}

/** A setting that the vendor follows without being asked. */
export interface InherentSetting<Value> {
  readonly kind: "inherent";
  /** What the vendor does, in the words of a document. */
  readonly how: string;
  readonly limits?: string;
  /** What to do instead for a value that the vendor does not do. */
  readonly unless?: (value: Value, given: SettingContext) => string | undefined;
}

/** A setting that the vendor does not have. */
export interface RefusedSetting {
  readonly kind: "refused";
  /** What to do instead. */
  readonly instead: string;
}

/** What a row may look at beside its own value. */
export interface SettingContext {
  /** The vendor's name of the model. */
  readonly model: string;
  /** The settings that all vendors share, checked. */
  readonly shared: ModelSettings;
  /** The vendor's own fields. */
  readonly own: JsonObject;
}
