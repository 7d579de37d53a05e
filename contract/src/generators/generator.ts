import type { NumberField } from '../fields/number-field.ts';

type Shared = { name: string; label: string; help?: string };

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
  /** The starter model that serves it where nothing else does, by its name on the wire. */
  starter?: string;
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
