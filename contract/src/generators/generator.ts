import type { NumberField } from '../fields/number-field.ts';

type Shared = {
  name: string;
  label: string;
  help?: string;
  /** Rarely changed, so the form collapses it. */
  isAdvanced?: true;
};

/** A field of a generator's form, in addition to the prompt. */
export type GeneratorField = Shared &
  (
    | ({ kind: 'number' } & NumberField & {
          /** Replaces an invalid value. Defaults to `default`. */
          fallback?: number;
          /** Another field determines the number; `values` maps that field's values. */
          decidedBy?: { field: string; values: Readonly<Record<string, number>> };
          /** Shown only while this other field is filled. */
          onlyWith?: string;
        })
    /** May be empty: then each generation uses another seed. */
    | { kind: 'seed'; max: number }
    | { kind: 'choice'; options: readonly { value: string; label: string }[]; default: string }
    | { kind: 'text'; default: string }
    /** `box` is the label of the checkbox. */
    | { kind: 'flag'; box: string; default: boolean }
    /** The id of a user's LoRA to apply to the model. May be empty for none. */
    | { kind: 'lora' }
    /** An input picture. Required ones are edited; an optional one is the first frame of a video. */
    | { kind: 'picture'; isOptional?: true }
  );

/** A quality preset. */
export type Quality = {
  label: string;
  /** Settings of the preset; other fields get their defaults. */
  settings: Readonly<Record<string, string | number>>;
};

/** The starter model that serves a generator without another provider. */
export type Starter = {
  /** Its API name. */
  model: string;
  /** Size and limits of its output, in a few words. */
  limits: string;
  qualities: readonly Quality[];
  /** Label of the initially selected quality: the model's own defaults. */
  opensOn: string;
  /** Fields with a fixed value regardless of the request. */
  fixed?: Readonly<Record<string, string>>;
};

/** A selectable model for pictures or videos. */
export type Generator = {
  title: string;
  /** Creator of the model. */
  maker: string;
  makes: 'image' | 'video';
  /** Its strengths in a sentence. */
  about: string;
  fields: readonly GeneratorField[];
  /** Shown instead of the missing provider, once its maker has shut it down. */
  retired?: string;
  /** Values set by Reset, if different from the defaults. */
  reset?: Readonly<Record<string, string | number>>;
  starter?: Starter;
  /** Fixed values if its starter generates. */
  fixed?: Starter['fixed'];
  /** Example prompts. */
  examples?: readonly string[];
  /** Has experts per step, so a generation can be repeated with other ones. */
  hasExperts?: true;
};

/** True if it edits a picture: its prompt describes a change, not the result. */
export function editsPictures({ fields }: Pick<Generator, 'fields'>): boolean {
  return fields.some((field) => field.kind === 'picture' && !field.isOptional);
}

/** True if it accepts an input picture. */
export function acceptsPicture({ fields }: Pick<Generator, 'fields'>): boolean {
  return fields.some(({ kind }) => kind === 'picture');
}
