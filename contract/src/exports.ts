import * as z from 'zod';
import { quote } from './credits.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { bglInput } from './money.ts';

/** `safetensors` loads with Transformers; the others are one GGUF each, with a Modelfile for Ollama. */
export const exportFormats = ['safetensors', 'gguf_f16', 'gguf_q8_0'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const exportFormatLabels: Record<ExportFormat, string> = {
  safetensors: 'safetensors',
  gguf_f16: 'GGUF F16',
  gguf_q8_0: 'GGUF Q8_0',
};

const exportParams = z.object({ id: idOf('model') });

const offeredExport = z.object({
  format: z.enum(exportFormats),
  /** Of the model that comes of it, about. */
  size_bytes: z.number(),
  quote,
  /** Why the fine-tune cannot be exported so, as one sentence; null: it can. */
  obstacle: z.string().nullable(),
});

export type OfferedExport = z.infer<typeof offeredExport>;

export const listExports = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/exports',
  access: 'key',
  operation: 'read the exports',
  summary: 'List what a fine-tune of text can be exported as, with sizes and quotes',
  params: exportParams,
  /** `obstacle`: why the model cannot be exported at all, as one sentence; then there are no `exports`. */
  response: z.object({ obstacle: z.string().nullable(), exports: z.array(offeredExport) }),
});

/**
 * Makes a model of its own, with the adapter merged into the base, by a run that is followed and cancelled as any other. Its
 * quote is held, and only the time that it takes is charged.
 */
export const startExport = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/exports',
  access: 'key',
  operation: 'start the export',
  summary: 'Export a fine-tune of text as one whole model',
  spends: true,
  status: 201,
  params: exportParams,
  body: only({
    format: z.enum(exportFormats, `format must be one of ${exportFormats.join(', ')}`),
    /** In BGL, the total that it was quoted at: where it costs more by now, it is refused with the new price. */
    cost_max: bglInput.optional(),
  }),
  response: z.object({ run_id: z.string(), model_id: z.string() }),
});
