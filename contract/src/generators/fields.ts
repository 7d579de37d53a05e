import { LORA_SCALE_MAX, PICTURES_MAX, STRENGTH_MIN } from '../generators.ts';
import type { GeneratorField } from './generator.ts';

const SEED_MAX = 4_294_967_295;

/** The same seed and settings give the same result. */
export const seed: GeneratorField = {
  kind: 'seed',
  name: 'seed',
  label: 'Seed',
  isAdvanced: true,
  help: 'Leave empty for a different result each time.',
  max: SEED_MAX,
};

const shapes = {
  '1:1': 'Square, 1:1',
  '4:3': 'Landscape, 4:3',
  '3:2': 'Landscape, 3:2',
  '16:9': 'Wide, 16:9',
  '3:4': 'Portrait, 3:4',
  '2:3': 'Portrait, 2:3',
  '9:16': 'Tall, 9:16',
  '21:9': 'Cinema, 21:9',
} as const;
type Shape = keyof typeof shapes;

/** The first ratio is the default. */
export function aspectRatio(ratios: readonly [Shape, ...Shape[]]): GeneratorField {
  return {
    kind: 'choice',
    name: 'aspect_ratio',
    label: 'Aspect ratio',
    options: ratios.map((value) => ({ value, label: shapes[value] })),
    default: ratios[0],
  };
}

export function negativePrompt(text = ''): GeneratorField {
  return {
    kind: 'text',
    name: 'negative_prompt',
    label: 'Negative prompt',
    isAdvanced: true,
    help: 'What the result should not show.',
    default: text,
  };
}

/** How much a picture changes. The number of steps, and so the price, is always the same. */
export const strength: GeneratorField = {
  kind: 'number',
  name: 'strength',
  label: 'Strength',
  isAdvanced: true,
  help: 'Below 1, more of the picture is kept.',
  min: STRENGTH_MIN,
  max: 1,
  step: 0.05,
  default: 1,
};

/** First frame of a video. */
export const firstFrame: GeneratorField = {
  kind: 'picture',
  name: 'image',
  label: 'First frame',
  isOptional: true,
};

/** Pictures per generation. */
export const pictures: GeneratorField = {
  kind: 'number',
  name: 'n',
  label: 'Pictures',
  help: 'Each picture is charged separately.',
  min: 1,
  max: PICTURES_MAX,
  step: 1,
  default: 1,
};

/** An adapter and its strength, for models of this server. */
export const lora: readonly GeneratorField[] = [
  {
    kind: 'lora',
    name: 'lora',
    label: 'LoRA',
    help: 'A LoRA of yours for FLUX, uploaded as a model.',
  },
  {
    kind: 'number',
    name: 'lora_scale',
    label: 'LoRA strength',
    help: '0 leaves the picture as it would be without it.',
    onlyWith: 'lora',
    min: 0,
    max: LORA_SCALE_MAX,
    step: 0.1,
    default: 1,
  },
];

type Range = { min: number; max: number; default: number };

export function guidance({ min, max, default: value }: Range): GeneratorField {
  return {
    kind: 'number',
    name: 'guidance_scale',
    label: 'Guidance',
    isAdvanced: true,
    help: 'How closely the result follows the prompt.',
    step: 0.5,
    ...{ min, max, default: value },
  };
}

export function steps({ min, max, default: value }: Range): GeneratorField {
  return {
    kind: 'number',
    name: 'num_inference_steps',
    label: 'Steps',
    isAdvanced: true,
    help: 'More steps take longer and add detail.',
    step: 1,
    ...{ min, max, default: value },
  };
}

/** In seconds; the first is the default. */
export function duration(seconds: readonly [number, ...number[]]): GeneratorField {
  return {
    kind: 'choice',
    name: 'duration',
    label: 'Duration',
    options: seconds.map((each) => ({ value: String(each), label: `${each} seconds` })),
    default: String(seconds[0]),
  };
}

type Options = readonly { value: string; label: string }[];

export function quality(options: Options, value: string): GeneratorField {
  return { kind: 'choice', name: 'quality', label: 'Quality', options, default: value };
}

export function style(options: Options, value: string): GeneratorField {
  return { kind: 'choice', name: 'style', label: 'Style', options, default: value };
}
