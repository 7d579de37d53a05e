import * as z from 'zod';
import { exportGgufSpec, exportSafetensorsSpec } from './export-spec.ts';
import { serveEmbeddingSpec } from './serve-embedding-spec.ts';
import { serveImageSpec } from './serve-image-spec.ts';
import { serveTextSpec } from './serve-spec.ts';
import { trainFluxSpec, trainParisSpec } from './train-image-spec.ts';
import { trainTextSpec } from './train-spec.ts';

/** The spec of any workload. `kind` selects the command that executes it, `method` or `task` the program. */
export const workloadSpec = z.discriminatedUnion('kind', [
  z.discriminatedUnion('method', [trainTextSpec, trainFluxSpec, trainParisSpec]),
  z.discriminatedUnion('task', [serveTextSpec, serveEmbeddingSpec, serveImageSpec]),
  z.discriminatedUnion('format', [exportSafetensorsSpec, exportGgufSpec]),
]);
