import * as z from 'zod';
import { quote } from './credits.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { startedRun } from './fine-tuning.ts';
import { bglInput } from './money.ts';

/** `safetensors` loads with Transformers. The others are a single GGUF file with a Modelfile for Ollama. */
export const exportFormats = ['safetensors', 'gguf_f16', 'gguf_q8_0'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const exportFormatLabels: Record<ExportFormat, string> = {
  safetensors: 'safetensors',
  gguf_f16: 'GGUF F16',
  gguf_q8_0: 'GGUF Q8_0',
};

const exportParams = z.object({ id: idOf('model') });

export const offeredExport = z.object({
  format: z.enum(exportFormats),
  /** Approximate size of the result. */
  size_bytes: z.number(),
  quote,
  /** Why the fine-tune cannot be exported in this format, as one sentence; null if it can. */
  obstacle: z.string().nullable(),
});

export type OfferedExport = z.infer<typeof offeredExport>;

export const listExports = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/exports',
  access: 'key',
  operation: 'read the exports',
  summary: 'List the export formats of a text fine-tune, with sizes and quotes',
  params: exportParams,
  /** `obstacle` explains why the model cannot be exported in any format. Then `exports` is empty. */
  response: z.object({ obstacle: z.string().nullable(), exports: z.array(offeredExport) }),
});

/**
 * Starts a run that merges the adapter into the base and saves the result as a new model. Holds the quoted
 * amount, and charges only for the time used.
 */
export const startExport = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/exports',
  access: 'key',
  operation: 'start the export',
  summary: 'Export a text fine-tune as a standalone model',
  spends: true,
  status: 201,
  params: exportParams,
  body: only({
    format: z.enum(exportFormats, `format must be one of ${exportFormats.join(', ')}`),
    /** The quoted total in BGL. If the price is higher now, the call is rejected with the new price. */
    cost_max: bglInput.optional(),
  }),
  response: startedRun,
});
