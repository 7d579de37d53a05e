import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';

/** For tests: the runtime's report about ten valid rows. */
export const goodData: ValidateReport = {
  format: {
    format: 'prompt_completion',
    input_column: 'question',
    output_column: 'answer',
    rejected_column: null,
    label_column: null,
    system_column: null,
  },
  columns: ['question', 'answer'],
  rows_total: 10,
  rows_kept: 9,
  rows_dropped: 1,
  dropped: [{ line: 4, reason: 'The answer is empty' }],
  rows_truncated: 0,
  train_tokens: 4000,
  eval_tokens: 1000,
  train_padded_tokens: 4000,
  eval_padded_tokens: 1000,
  train_examples: 8,
  eval_examples: 2,
  steps_total: 2,
  packs: null,
  ratings: null,
  token_histogram: [],
  samples: [],
  base_parameters: 135_000_000,
  trainable_parameters: 1_000_000,
  memory_bytes: 1_000_000_000,
  gpu_memory_bytes: 2_000_000_000,
  tied_embeddings: true,
  gguf_obstacle: null,
  critical_errors: [],
  validation_errors: [],
  reward_errors: [],
  target_errors: [],
  warnings: [],
};

/** For tests: an empty safetensors file, which passes the check of weights. */
export function emptySafetensors(): Buffer {
  const header = Buffer.from('{}      ');
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header]);
}

/** For tests: an empty GGUF file, which passes the check of weights. */
export function emptyGguf(): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write('GGUF');
  bytes.writeUInt32LE(3, 4);
  return bytes;
}
