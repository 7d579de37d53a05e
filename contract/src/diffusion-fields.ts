import * as z from 'zod';
import { boundedBy, numberOf } from './fields/bounded-number.ts';
import type { NumberField } from './fields/number-field.ts';
import { samplePrompt as drawnPrompt } from './runtime/train-image-spec.ts';

/** Settings for training a LoRA on pictures. */

/** Maximum samples per checkpoint. */
export const SAMPLE_PROMPTS_MAX = 8;
const PROMPT_LENGTH_MAX = 1000;
const TRIGGER_LENGTH_MAX = 40;

/** Numeric settings. The wizard's fields and the server's validation both use these. */
export const pictureTrainingNumbers = {
  steps: { label: 'Steps', min: 1, max: 20_000, step: 1, default: 400 },
  learning_rate: { label: 'Learning rate', min: 0, aboveMin: true, max: 1, step: 0.0001, default: 0.002 },
  lora_r: { label: 'LoRA rank', min: 1, max: 128, step: 1, default: 16 },
  batch_size: { label: 'Batch size', min: 1, max: 1024, step: 1, default: 8 },
  gradient_accumulation_steps: { label: 'Gradient accumulation', min: 1, max: 1024, step: 1, default: 1 },
  caption_dropout: { label: 'Caption dropout', min: 0, max: 1, step: 0.05, default: 0.1 },
  sample_every: { label: 'Steps between samples', min: 1, max: 20_000, step: 1, default: 100 },
} as const satisfies Record<string, NumberField>;

/** Training resolutions of a full-size model, as the side of a square with the same area. */
export const pictureResolutions = [512, 768, 1024] as const;

export const samplePrompt = drawnPrompt.extend({
  prompt: z
    .string()
    .trim()
    .min(1, 'Sample prompt is required')
    .max(PROMPT_LENGTH_MAX, `Sample prompt must have at most ${PROMPT_LENGTH_MAX} characters`),
});

/** Settings of a picture LoRA and of its checkpoint samples. */
export const pictureTrainingFields = {
  /** Text that activates the LoRA in a prompt. It is prepended to each caption that does not contain it. */
  trigger_word: z
    .string()
    .trim()
    .min(1, 'Trigger word is empty: leave it out')
    .max(TRIGGER_LENGTH_MAX, `Trigger word must have at most ${TRIGGER_LENGTH_MAX} characters`)
    .regex(/^[\p{L}\p{N} _-]+$/u, 'Trigger word can have letters, digits, spaces, - and _')
    .nullish(),
  steps: numberOf(pictureTrainingNumbers.steps),
  learning_rate: numberOf(pictureTrainingNumbers.learning_rate),
  lora_r: numberOf(pictureTrainingNumbers.lora_r),
  batch_size: numberOf(pictureTrainingNumbers.batch_size),
  gradient_accumulation_steps: numberOf(pictureTrainingNumbers.gradient_accumulation_steps),
  caption_dropout: numberOf(pictureTrainingNumbers.caption_dropout),
  /** Defaults to the base model's output resolution. For a small model, no other value is possible. */
  resolution: z
    .literal(pictureResolutions, `Resolution must be one of ${pictureResolutions.join(', ')}`)
    .nullish(),
  /** Number of steps between checkpoints. At each checkpoint, the sample prompts are drawn. */
  sample_every: numberOf(pictureTrainingNumbers.sample_every),
  sample_prompts: z
    .array(samplePrompt)
    .max(SAMPLE_PROMPTS_MAX, `There can be at most ${SAMPLE_PROMPTS_MAX} sample prompts`)
    .default([]),
  /** Seed for adapter initialization, noise and picture order. Defaults to 42. */
  seed: boundedBy({ label: 'Seed', min: 0, max: 2 ** 31 - 1, step: 1 }).optional(),
};

type Preset = { [Name in keyof typeof pictureTrainingNumbers]: number };

/** Suggested settings: for a small model on this machine's CPU, and for a full-size one. */
export const pictureTrainingPresets = {
  small: {
    quick: preset({ steps: 150, sample_every: 50 }),
    style: preset({}),
    subject: preset({ steps: 600, lora_r: 32, caption_dropout: 0.05, sample_every: 100 }),
  },
  full: {
    quick: preset({ steps: 300, learning_rate: 0.0002, batch_size: 1, sample_every: 100 }),
    style: preset({ steps: 1500, learning_rate: 0.0001, batch_size: 1, sample_every: 250 }),
    subject: preset({
      ...{ steps: 1000, learning_rate: 0.0001, batch_size: 1, lora_r: 32 },
      ...{ caption_dropout: 0.05, sample_every: 200 },
    }),
  },
} as const satisfies Record<string, Record<string, Preset>>;

function preset(values: Partial<Preset>): Preset {
  const defaults = Object.fromEntries(
    Object.entries(pictureTrainingNumbers).map(([name, field]) => [name, field.default]),
  ) as Preset;
  return { ...defaults, ...values };
}
