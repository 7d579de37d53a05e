import type { NumberField } from '../fields/number-field.ts';

type Shared = {
  name: string;
  label: string;
  help?: string;
  /** Most people leave it as it is: the form folds it away. */
  isAdvanced?: true;
};

/** One field of a generator's form, beside the prompt that each has. */
export type GeneratorField = Shared &
  (
    | ({ kind: 'number' } & NumberField & {
          /** Stands in place of a value that is none; the default unless said. */
          fallback?: number;
          /** Another field decides it: by which of its values it is which number. */
          decidedBy?: { field: string; values: Readonly<Record<string, number>> };
          /** It is there only while this other field is filled. */
          onlyWith?: string;
        })
    /** May stay empty: then each generation has another one. */
    | { kind: 'seed'; max: number }
    | { kind: 'choice'; options: readonly { value: string; label: string }[]; default: string }
    | { kind: 'text'; default: string }
    /** `box` says what a tick means. */
    | { kind: 'flag'; box: string; default: boolean }
    /** A model of the person's own that is put on the one that generates, by its id. May stay empty: then there is none. */
    | { kind: 'lora' }
    /** A picture that is sent along; one that is optional begins what is made from the prompt. */
    | { kind: 'picture'; isOptional?: true }
  );

/** How good a picture is, in one choice. */
export type Quality = {
  label: string;
  /** What it sets; those of the others that it does not name have their defaults. */
  settings: Readonly<Record<string, string | number>>;
};

/** The starter model that serves a generator where nothing else does. */
export type Starter = {
  /** Its name on the wire. */
  model: string;
  /** Size and limits of what it makes, in a few words. */
  limits: string;
  qualities: readonly Quality[];
  /** The label of the quality that its page opens on: the model's own defaults. */
  opensOn: string;
  /** What it makes in one way alone, by field, whatever is asked for. */
  fixed?: Readonly<Record<string, string>>;
};

/** A model that a person can pick to make pictures or films. */
export type Generator = {
  title: string;
  /** Who has made the model. */
  maker: string;
  makes: 'image' | 'video';
  /** What it is good at, in a sentence. */
  about: string;
  fields: readonly GeneratorField[];
  /** Said in place of what it waits for, once its maker has shut it down. */
  retired?: string;
  /** What Reset puts in place of the defaults. */
  reset?: Readonly<Record<string, string | number>>;
  starter?: Starter;
  /** Where its starter generates: what that has fixed. */
  fixed?: Starter['fixed'];
  /** Prompts to begin with. */
  examples?: readonly string[];
  /** Several experts take its steps: a generation can be run again with others. */
  hasExperts?: true;
};

/** Whether it makes a picture out of another one: its prompt says what to change, and not what is seen. Pure. */
export function editsPictures({ fields }: Pick<Generator, 'fields'>): boolean {
  return fields.some((field) => field.kind === 'picture' && !field.isOptional);
}

/** Whether a picture may be sent along. Pure. */
export function takesPicture({ fields }: Pick<Generator, 'fields'>): boolean {
  return fields.some(({ kind }) => kind === 'picture');
}
