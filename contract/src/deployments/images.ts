import * as z from 'zod';
import { userId, userIdParams } from '../accounts.ts';
import { endpoint } from '../endpoint.ts';
import { flag } from '../fields/flag.ts';
import { idOf } from '../fields/id.ts';
import { only } from '../fields/only.ts';
import { licence } from '../licences.ts';
import {
  deployFields,
  deployment,
  deploymentListFields,
  deploymentQuote,
  hourCostMax,
  recentDeployments,
} from './text.ts';

/* Image models that somebody has deployed: FLUX and Paris, which generate from a prompt, and Kontext, which edits pictures. */

export const imageDeploymentKinds = ['paris', 'flux', 'flux-kontext'] as const;
export type ImageDeploymentKind = (typeof imageDeploymentKinds)[number];

/** `READY` sleeps, and wakes with the next picture that is asked of it; like `running` it can be used at once. */
const states = ['pending', 'deploying', 'running', 'READY', 'failed', 'stopped'] as const;
export type ImageDeploymentState = (typeof states)[number];

const status = z.object({ status: z.enum(states) });

const imageDeployment = deployment
  .omit({ status: true, job_status: true, base_model_title: true, replicas: true })
  .extend({
    kind: z.enum(imageDeploymentKinds),
    status: z.enum(states),
    /** The same word again. */
    pod_status: status,
    current_status: status,
    /**
     * Takes `/edit` and `/edit_url` where it edits pictures, and its owner's key; null once it has ended. Never the
     * model server's own address.
     */
    inference_url: z.string().nullable(),
    /** The base URL for OpenAI's clients, whose images API takes `model_name` as the model; null once it has ended. */
    endpoint_url: z.string().nullable(),
    deployment_details: z.object({ base_url: z.string().nullable(), gpu_count: z.int() }),
  });

export type ImageDeployment = z.infer<typeof imageDeployment>;

const asked = {
  /** Asset id of the model, or a name that is known on a model hub: one's own model of that title, or a restricted one. */
  model_id: z.string().trim().min(1, 'model_id is required').max(200),
  ...deployFields,
  gpu_count: z.int().min(1).max(1, 'gpu_count must be 1: an image model is served on one GPU').default(1),
  min_replicas: z.int().min(0).max(1, 'min_replicas must be at most 1 for an image model').default(1),
  max_replicas: z.int().min(1).max(1, 'max_replicas must be 1 for an image model').default(1),
};
const deployBody = only({ ...asked, cost_max: hourCostMax });
const quoteBody = only(asked);

const deployed = z.object({ pod_id: z.string(), deployment_id: z.string(), created_at: z.string() });

const quote = deploymentQuote.extend({
  /** Its title, as it would be called. */
  title: z.string(),
  /** What has to be accepted before it is deployed; null where nothing has. */
  licence: licence.nullable(),
});

const listQuery = z.object({
  /** Those alone that answer, or wake to. */
  only_running: flag.default(false),
  /** Ended ones too. Without it there are, of those, the ones that have failed, or were stopped for want of credit, within a day. */
  include_terminated: flag.default(false),
  recent: recentDeployments,
  ...deploymentListFields,
});
const listed = z.object({ deployments: z.array(imageDeployment), next_cursor: z.string().nullable() });

const podParams = z.object({ podId: idOf('deployment') });
const ownerQuery = z.object({ user_id: userId });

export const listImageDeployments = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/images/user/:userId',
  access: 'key',
  summary: "The user's deployments of image models of every kind, newest first",
  params: userIdParams,
  query: listQuery,
  response: listed,
});

export const deployFlux = endpoint({
  method: 'POST',
  path: '/api/v1/deploy/flux',
  access: 'key',
  summary: 'Serve a FLUX model, which generates pictures',
  spends: true,
  body: deployBody,
  response: deployed,
});

export const quoteFlux = endpoint({
  method: 'POST',
  path: '/api/v1/deploy/flux/quote',
  access: 'key',
  summary: 'What serving a FLUX model would cost, and which licence it needs; nothing is deployed or held',
  body: quoteBody,
  response: quote,
});

export const listFlux = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/flux/user/:userId',
  access: 'key',
  summary: "The user's FLUX deployments, newest first",
  params: userIdParams,
  query: listQuery,
  response: listed,
});

export const terminateFlux = endpoint({
  method: 'DELETE',
  path: '/api/v1/pod/flux/:podId/terminate',
  access: 'key',
  summary: 'Stop a FLUX or Kontext deployment and settle its bill',
  params: podParams,
  query: ownerQuery,
  response: imageDeployment,
});

export const deployFluxKontext = endpoint({
  method: 'POST',
  path: '/api/v1/deploy/flux-kontext',
  access: 'key',
  summary: 'Serve a FLUX Kontext model, which edits pictures',
  spends: true,
  body: deployBody,
  response: deployed,
});

export const quoteFluxKontext = endpoint({
  method: 'POST',
  path: '/api/v1/deploy/flux-kontext/quote',
  access: 'key',
  summary:
    'What serving a FLUX Kontext model would cost, and which licence it needs; nothing is deployed or held',
  body: quoteBody,
  response: quote,
});

export const listFluxKontext = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/flux-kontext/user/:userId',
  access: 'key',
  summary: "The user's FLUX Kontext deployments, newest first",
  params: userIdParams,
  query: listQuery,
  response: listed,
});

export const terminateFluxKontext = endpoint({
  method: 'DELETE',
  path: '/api/v1/pod/flux-kontext/:podId/terminate',
  access: 'key',
  summary: 'Stop a FLUX Kontext deployment and settle its bill',
  params: podParams,
  query: ownerQuery,
  response: imageDeployment,
});

export const deployParis = endpoint({
  method: 'POST',
  path: '/api/v1/deploy/paris',
  access: 'key',
  summary: 'Serve a Paris model, which generates pictures',
  spends: true,
  body: deployBody,
  response: deployed,
});

export const quoteParis = endpoint({
  method: 'POST',
  path: '/api/v1/deploy/paris/quote',
  access: 'key',
  summary: 'What serving a Paris model would cost; nothing is deployed or held',
  body: quoteBody,
  response: quote,
});

export const listParis = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/paris/user/:userId',
  access: 'key',
  summary: "The user's Paris deployments, newest first",
  params: userIdParams,
  query: listQuery,
  response: listed,
});

export const terminateParis = endpoint({
  method: 'DELETE',
  path: '/api/v1/pod/paris/:podId/terminate',
  access: 'key',
  summary: 'Stop a Paris deployment and settle its bill',
  params: podParams,
  query: ownerQuery,
  response: imageDeployment,
});

export const getImageDeployment = endpoint({
  method: 'GET',
  path: '/v1/deployments/:podId',
  access: 'key',
  scopes: ['read', 'inference'],
  summary: 'A deployment of an image model, at its inference_url',
  params: podParams,
  response: imageDeployment,
});
