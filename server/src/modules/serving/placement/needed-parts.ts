import type { PipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';

/** Parts that a model needs: folders with weights, and other folders or files. */
export type NeededParts = { weights: string[]; others: string[] };

const TEXT_ENCODERS = ['text_encoder', 'text_encoder_2'];
const TOKENIZERS = ['tokenizer', 'tokenizer_2'];
/** Token limits of the installed sentence encoder. */
const TEXT_WINDOW = { min: 2, max: 256 };

/*
 * The runtime has the same rules and checks the rest when it loads a model: `_checked_index` and
 * `_has_text_encoders` in image/kontext/pipeline.py, `load_text_encoder` in image/paris/pipeline.py.
 */

/** Returns the parts of a FLUX model: both text encoders and tokenizers if its index names any of them. */
export function neededOfFlux(index: PipelineIndex): NeededParts {
  const hasTextEncoders = [...TEXT_ENCODERS, ...TOKENIZERS].some((part) => isNamed(index[part]));
  return {
    weights: ['transformer', 'vae', ...(hasTextEncoders ? TEXT_ENCODERS : [])],
    others: ['scheduler/scheduler_config.json', ...(hasTextEncoders ? TOKENIZERS : [])],
  };
}

/**
 * Returns the parts of a Paris model: its own text encoder and tokenizer, unless its index states the token
 * limit of the installed sentence encoder.
 */
export function neededOfParis(index: PipelineIndex, paths: string[]): NeededParts {
  const hasTextEncoder = paths.some((path) => path.startsWith('text_encoder/')) || !namesWindow(index);
  return {
    weights: ['expert_0', 'router', 'vae', ...(hasTextEncoder ? ['text_encoder'] : [])],
    others: hasTextEncoder ? ['tokenizer'] : [],
  };
}

/** Returns the parts of a Wan model; second transformer, text encoder and image encoder are optional. */
export function neededOfWan(index: PipelineIndex): NeededParts {
  const named = (part: string) => isNamed(index[part]);
  return {
    weights: ['transformer', 'vae', ...['transformer_2', 'text_encoder', 'image_encoder'].filter(named)],
    others: ['scheduler/scheduler_config.json', ...['tokenizer', 'image_processor'].filter(named)],
  };
}

/** [null, null] marks an omitted part. */
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
