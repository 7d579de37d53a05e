import * as z from 'zod';
import { userId, userIdParams } from '../accounts.ts';
import { endpoint } from '../endpoint.ts';
import { flag } from '../fields/flag.ts';
import { idOf } from '../fields/id.ts';
import { only } from '../fields/only.ts';
import { licence } from '../licences.ts';
import { deployFields, deployment, deploymentListFields, deploymentQuote, hourCostMax } from './text.ts';

/*
 * Deployments of image and video models: FLUX and Paris generate pictures from a prompt, Kontext edits
 * pictures, Wan makes videos.
 */

type Kind = { title: string; does: string; terminates: readonly string[] };

/**
 * Texts for the API documentation of each kind. `terminates` lists the kinds that its terminate call accepts.
 */
export const imageKinds = {
  paris: { title: 'Paris', does: 'generates pictures', terminates: ['paris'] },
  flux: { title: 'FLUX', does: 'generates pictures', terminates: ['flux', 'flux-kontext'] },
  'flux-kontext': { title: 'FLUX Kontext', does: 'edits pictures', terminates: ['flux-kontext'] },
  wan: { title: 'Wan', does: 'generates videos', terminates: ['wan'] },
} as const satisfies Record<string, Kind>;
export type ImageDeploymentKind = keyof typeof imageKinds;
/** Kinds that make pictures. */
export const pictureDeploymentKinds = [
  'paris',
  'flux',
  'flux-kontext',
] as const satisfies ImageDeploymentKind[];
export type PictureDeploymentKind = (typeof pictureDeploymentKinds)[number];
export const imageDeploymentKinds = [
  ...pictureDeploymentKinds,
  'wan',
] as const satisfies ImageDeploymentKind[];

/** `READY` is asleep and wakes on the next request. Both it and `running` accept requests. */
const states = ['pending', 'deploying', 'running', 'READY', 'failed', 'stopped'] as const;
export type ImageDeploymentState = (typeof states)[number];
/** Other spellings of the same states, which Wan deployments use. */
const wanStates = ['PENDING', 'DEPLOYING', 'running', 'READY', 'FAILED', 'TERMINATED'] as const;
export type WanDeploymentState = (typeof wanStates)[number];
// Two enums, because 'pending' and 'PENDING' in one enum collide in generated clients.
export const anyImageDeploymentState = z.union([z.enum(states), z.enum(wanStates)]);

export const imageDeploymentStatus = z.object({ status: anyImageDeploymentState });

export const imageDeployment = deployment
  .omit({
    task: true,
    status: true,
    job_status: true,
    base_model_title: true,
    replicas: true,
    context_tokens: true,
    vision: true,
  })
  .extend({
    kind: z.enum(imageDeploymentKinds),
    status: anyImageDeploymentState,
    /** The same as `status`. */
    pod_status: imageDeploymentStatus,
    current_status: imageDeploymentStatus,
    /**
     * Base address for `/edit` and `/edit_url`, to call with the owner's key, if the deployment edits
     * pictures. Null once it has ended. Never the address of the model server itself.
     */
    inference_url: z.string().nullable(),
    /** Base URL for OpenAI's clients, whose images API accepts `model_name` as model. Null after the end. */
    endpoint_url: z.string().nullable(),
    deployment_details: z.object({ base_url: z.string().nullable(), gpu_count: z.int() }),
    /** For Wan deployments, equal to `pod_id`. */
    runpod_id: z.string().optional(),
  });

export type ImageDeployment = z.infer<typeof imageDeployment>;

const asked = {
  /**
   * Asset id of the model, or a name on a model hub: that of the caller's model with this title, or of a
   * restricted model. If the user has no model with the name of FLUX.1, FLUX.1 Kontext or Wan 2.2, the
   * starter model of the kind is deployed, and `notice` says so.
   */
  model_id: z.string().trim().min(1, 'model_id is required').max(200),
  ...deployFields,
  gpu_count: z.int().min(1).max(1, 'gpu_count must be 1: a picture model is served on one GPU').default(1),
  min_replicas: z.int().min(0).max(1, 'min_replicas must be at most 1 for a picture model').default(1),
  max_replicas: z.int().min(1).max(1, 'max_replicas must be 1 for a picture model').default(1),
};
export const imageDeploymentBody = only({ ...asked, cost_max: hourCostMax });
export const imageDeploymentQuoteBody = only(asked);

/** Says that a starter model is deployed, because the user has no model with the requested name. */
const notice = z.string().optional();

export const startedImageDeployment = z.object({
  ...{ pod_id: z.string(), deployment_id: z.string(), created_at: z.string(), notice },
});

export const imageDeploymentQuote = deploymentQuote.extend({
  /** Its title and API name. */
  title: z.string(),
  /** Licence that must be accepted before the deployment; null if there is none. */
  licence: licence.nullable(),
  notice,
});

const listQuery = z.object({
  /** Only deployments that accept requests, awake or asleep. */
  only_running: flag.default(false),
  /** True to include all that ended, not only those that failed or ran out of credits within a day. */
  include_terminated: flag.default(false),
  ...deploymentListFields,
});
export const imageDeploymentPage = z.object({
  ...{ deployments: z.array(imageDeployment), next_cursor: z.string().nullable() },
});

const podParams = z.object({ podId: idOf('deployment') });
const ownerQuery = z.object({ user_id: userId });

export const listImageDeployments = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/images/user/:userId',
  access: 'key',
  summary: 'List image deployments of every kind, newest first',
  params: userIdParams,
  query: listQuery,
  response: imageDeploymentPage,
});

/** Returns the calls of a kind: deploy, quote, list, terminate. */
function callsOf(kind: ImageDeploymentKind) {
  const { title, does }: Kind = imageKinds[kind];
  return {
    deploy: endpoint({
      method: 'POST',
      path: `/api/v1/deploy/${kind}`,
      access: 'key',
      summary: `Deploy a ${title} model, which ${does}`,
      spends: true,
      body: imageDeploymentBody,
      response: startedImageDeployment,
    }),
    quote: endpoint({
      method: 'POST',
      path: `/api/v1/deploy/${kind}/quote`,
      access: 'key',
      summary: `Quote a ${title} deployment: its price and the license that it needs`,
      body: imageDeploymentQuoteBody,
      response: imageDeploymentQuote,
    }),
    list: endpoint({
      method: 'GET',
      path: `/api/v1/deployments/${kind}/user/:userId`,
      access: 'key',
      summary: `List the user's ${title} deployments, newest first`,
      params: userIdParams,
      query: listQuery,
      response: imageDeploymentPage,
    }),
    terminate: endpoint({
      method: 'DELETE',
      path: `/api/v1/pod/${kind}/:podId/terminate`,
      access: 'key',
      summary: `Terminate a ${title} deployment and settle its bill`,
      params: podParams,
      query: ownerQuery,
      response: imageDeployment,
    }),
  };
}

export const imageCalls = {
  paris: callsOf('paris'),
  flux: callsOf('flux'),
  'flux-kontext': callsOf('flux-kontext'),
  wan: callsOf('wan'),
} satisfies Record<ImageDeploymentKind, unknown>;

export const stopAllWan = endpoint({
  method: 'POST',
  path: '/api/v1/deployments/wan/user/:userId/stop-all',
  access: 'key',
  operation: 'stop WAN-2 deployment',
  summary: "Terminate all of the user's Wan deployments and settle their bills",
  params: userIdParams,
  response: z.object({ stopped: z.array(imageDeployment) }),
});

export const getImageDeployment = endpoint({
  method: 'GET',
  path: '/v1/deployments/:podId',
  access: 'key',
  scopes: ['read', 'inference'],
  summary: 'Get an image deployment by its inference_url',
  params: podParams,
  response: imageDeployment,
});
