import * as z from 'zod';
import { userIdParams } from '../accounts.ts';
import { endpoint } from '../endpoint.ts';
import { flag } from '../fields/flag.ts';
import { imageDeploymentKinds } from './images.ts';
import { deployment, deploymentListFields } from './text.ts';

/** The fields that all kinds of deployments have. The calls of each kind return further ones. */
export const anyDeployment = deployment
  .pick({
    pod_id: true,
    model_id: true,
    model_name: true,
    title: true,
    status: true,
    reason: true,
    stop_reason: true,
    progress: true,
    created_at: true,
    ready_at: true,
    terminated_at: true,
    cost_so_far: true,
  })
  /** `text` includes embedding models, which are deployed by the same calls. */
  .extend({ kind: z.enum(['text', ...imageDeploymentKinds]) });

export const listDeployments = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/user/:userId',
  access: 'key',
  summary: 'List deployments of every kind, newest first',
  params: userIdParams,
  query: z.object({ include_terminated: flag.default(false), ...deploymentListFields }),
  response: z.object({ deployments: z.array(anyDeployment), next_cursor: z.string().nullable() }),
});
