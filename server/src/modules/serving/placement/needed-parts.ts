import type { PipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';

/** What a model is not loaded without: folders with weights, and folders or files of anything else. */
export type NeededParts = { weights: string[]; others: string[] };

const TEXT_ENCODERS = ['text_encoder', 'text_encoder_2'];
const TOKENIZERS = ['tokenizer', 'tokenizer_2'];
/** What the installed sentence encoder reads, in tokens. */
const TEXT_WINDOW = { min: 2, max: 256 };

/*
 * The runtime has the same rules, and refuses at loading what is let through here: `_checked_index` and
 * `_has_text_encoders` in image/kontext/pipeline.py, `load_text_encoder` in image/paris/pipeline.py.
 */

/** Of a FLUX model: both text encoders and their tokenizers as soon as its index names one of the four, else none of them. */
export function neededOfFlux(index: PipelineIndex): NeededParts {
  const hasTextEncoders = [...TEXT_ENCODERS, ...TOKENIZERS].some((part) => isNamed(index[part]));
  return {
    weights: ['transformer', 'vae', ...(hasTextEncoders ? TEXT_ENCODERS : [])],
    others: ['scheduler/scheduler_config.json', ...(hasTextEncoders ? TOKENIZERS : [])],
  };
}

/**
 * Of a Paris: the text encoder whose folder it has, with its tokenizer. Where there is no such folder, its index says how
 * many tokens the installed sentence encoder reads.
 */
export function neededOfParis(index: PipelineIndex, paths: string[]): NeededParts {
  const hasTextEncoder = paths.some((path) => path.startsWith('text_encoder/')) || !namesWindow(index);
  return {
    weights: ['expert_0', 'router', 'vae', ...(hasTextEncoder ? ['text_encoder'] : [])],
    others: hasTextEncoder ? ['tokenizer'] : [],
  };
}

/** Of a Wan: all parts that its index names, of which a second transformer, a text encoder or an image encoder may be left out. */
export function neededOfWan(index: PipelineIndex): NeededParts {
  const named = (part: string) => isNamed(index[part]);
  return {
    weights: ['transformer', 'vae', ...['transformer_2', 'text_encoder', 'image_encoder'].filter(named)],
    others: ['scheduler/scheduler_config.json', ...['tokenizer', 'image_processor'].filter(named)],
  };
}

/** A part that a pipeline does without is [null, null]. */
function isNamed(part: unknown): boolean {
  const isNone = Array.isArray(part) && part.length === 2 && part.every((name) => name === null);
  return part !== undefined && part !== null && !isNone;
}

function namesWindow({ text_window: window }: PipelineIndex): boolean {
  return (
    typeof window === 'number' &&
    Number.isInteger(window) &&
    window >= TEXT_WINDOW.min &&
    window <= TEXT_WINDOW.max
  );
}
