import * as z from 'zod';
import { anyDeployment } from './deployments/all.ts';
import { draft } from './drafts.ts';
import { endpoint } from './endpoint.ts';
import { dataReading } from './fine-tuning.ts';
import { generation } from './generations.ts';
import { hubClone } from './hub/clones.ts';
import { preparation } from './machines.ts';
import { run } from './runs.ts';

/** The caller's work that has not ended, or ended within the last hour; newest first, at most 1,000 of a kind. */
export const getWork = endpoint({
  method: 'GET',
  path: '/api/v1/work',
  access: 'key',
  operation: 'load your work',
  summary: 'Get all work that is in progress or ended within the last hour',
  response: z.object({
    runs: z.array(run),
    deployments: z.array(anyDeployment),
    generations: z.array(generation),
    clones: z.array(hubClone),
    drafts: z.array(draft),
    readings: z.array(dataReading),
    /** The server's own preparation after its start. */
    preparations: z.array(preparation),
  }),
});
