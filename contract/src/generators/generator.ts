import type { NumberField } from '../fields/number-field.ts';

type Shared = {
  name: string;
  label: string;
  help?: string;
  /** Rarely changed, so the form shows it only on request. */
  isAdvanced?: true;
  /** Only the starter supports it, because it needs true guidance. */
  isOfStarter?: true;
};

/** A field of a generator's form, in addition to the prompt. */
export type GeneratorField = Shared &
  (
    | ({ kind: 'number' } & NumberField & {
          /** Value that replaces an invalid one. Defaults to `default`. */
          fallback?: number;
          /** The value of another field determines this number; `values` contains the number for each. */
          decidedBy?: { field: string; values: Readonly<Record<string, number>> };
          /** Only shown while this other field is not empty. */
          onlyWith?: string;
        })
    /** If it is empty, each generation uses another seed. */
    | { kind: 'seed'; max: number }
    | { kind: 'choice'; options: readonly { value: string; label: string }[]; default: string }
    | { kind: 'text'; default: string }
    /** `box` is the label of the checkbox. */
    | { kind: 'flag'; box: string; default: boolean }
    /** Id of the user's LoRA that is applied to the model, or empty for none. */
    | { kind: 'lora' }
    /**
     * An input picture. A required one is edited, and a mask may limit the edit to a part of it. An optional
     * one is the first frame of a video.
     */
    | { kind: 'picture'; isOptional?: true; takesMask?: true }
  );

/** A quality preset. */
export type Quality = {
  label: string;
  /** Settings of the preset. All other fields have their defaults. */
  settings: Readonly<Record<string, string | number>>;
};

/** The starter model that generates if there is no other provider. */
export type Starter = {
  /** Its API name. */
  model: string;
  title: string;
  /** Size and limits of its output, in a few words. */
  limits: string;
  qualities: readonly Quality[];
  /** Label of the quality that is selected at first, which has the model's own defaults. */
  opensOn: string;
  /** Values that fields always have, whatever is requested. */
  fixed?: Readonly<Record<string, string | boolean>>;
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
  /** Shown if there is no provider because the model's maker has shut it down. */
  retired?: string;
  /** Values that Reset sets, if they are not the defaults. */
  reset?: Readonly<Record<string, string | number>>;
  starter?: Starter;
  /** Values that fields always have if the starter generates. */
  fixed?: Starter['fixed'] | undefined;
  /** Example prompts. */
  examples?: readonly string[];
  /** The model uses several experts per step, so a generation can be repeated with other experts. */
  hasExperts?: true;
};

/** True if it edits a picture: its prompt describes a change, not the result. */
export function editsPictures({ fields }: Pick<Generator, 'fields'>): boolean {
  return fields.some((field) => field.kind === 'picture' && !field.isOptional);
}

/** True if a mask can limit its edit. */
export function acceptsMask({ fields }: Pick<Generator, 'fields'>): boolean {
  return fields.some((field) => field.kind === 'picture' && field.takesMask);
}

/** True if it accepts an input picture. */
export function acceptsPicture({ fields }: Pick<Generator, 'fields'>): boolean {
  return fields.some(({ kind }) => kind === 'picture');
}
