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

/* Models of pictures and videos that somebody has deployed: FLUX and Paris, which generate from a prompt, Kontext, which edits pictures, and Wan, which makes videos. */

type Kind = { title: string; does: string; terminates: readonly string[] };

/** What the wire says of each kind; `terminates`: the kinds whose deployments its call terminates. */
export const imageKinds = {
  paris: { title: 'Paris', does: 'generates pictures', terminates: ['paris'] },
  flux: { title: 'FLUX', does: 'generates pictures', terminates: ['flux', 'flux-kontext'] },
  'flux-kontext': { title: 'FLUX Kontext', does: 'edits pictures', terminates: ['flux-kontext'] },
  wan: { title: 'Wan', does: 'generates videos', terminates: ['wan'] },
} as const satisfies Record<string, Kind>;
export type ImageDeploymentKind = keyof typeof imageKinds;
/** Those that make pictures. */
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

/** `READY` sleeps, and wakes with the next picture that is asked of it; like `running` it can be used at once. */
const states = ['pending', 'deploying', 'running', 'READY', 'failed', 'stopped'] as const;
export type ImageDeploymentState = (typeof states)[number];
/** The same of a Wan deployment, in its own words. */
const wanStates = ['PENDING', 'DEPLOYING', 'running', 'READY', 'FAILED', 'TERMINATED'] as const;
export type WanDeploymentState = (typeof wanStates)[number];
// Two enums: 'pending' and 'PENDING' in one enum are one name in generated clients.
const anyState = z.union([z.enum(states), z.enum(wanStates)]);

const status = z.object({ status: anyState });

const imageDeployment = deployment
  .omit({
    task: true,
    status: true,
    job_status: true,
    base_model_title: true,
    replicas: true,
    context_tokens: true,
  })
  .extend({
    kind: z.enum(imageDeploymentKinds),
    status: anyState,
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
    /** Of a Wan deployment `pod_id` again. */
    runpod_id: z.string().optional(),
  });

export type ImageDeployment = z.infer<typeof imageDeployment>;

const asked = {
  /**
   * Asset id of the model, or a name that is known on a model hub: one's own model of that title, or a restricted one. The
   * names of FLUX.1, FLUX.1 Kontext and Wan 2.2 deploy the starter model of that kind if the user has no such model; the
   * answer's `notice` says so.
   */
  model_id: z.string().trim().min(1, 'model_id is required').max(200),
  ...deployFields,
  gpu_count: z.int().min(1).max(1, 'gpu_count must be 1: an image model is served on one GPU').default(1),
  min_replicas: z.int().min(0).max(1, 'min_replicas must be at most 1 for an image model').default(1),
  max_replicas: z.int().min(1).max(1, 'max_replicas must be 1 for an image model').default(1),
};
const deployBody = only({ ...asked, cost_max: hourCostMax });
const quoteBody = only(asked);

/** Says that a starter model is deployed because the user has no model with the name that the call asked for. */
const notice = z.string().optional();

const deployed = z.object({ pod_id: z.string(), deployment_id: z.string(), created_at: z.string(), notice });

const quote = deploymentQuote.extend({
  /** Its title, as it would be called. */
  title: z.string(),
  /** What has to be accepted before it is deployed; null where nothing has. */
  licence: licence.nullable(),
  notice,
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
  summary: 'List image deployments of every kind, newest first',
  params: userIdParams,
  query: listQuery,
  response: listed,
});

/** The calls of one kind: deploy, quote, list, terminate. */
function callsOf(kind: ImageDeploymentKind) {
  const { title, does }: Kind = imageKinds[kind];
  return {
    deploy: endpoint({
      method: 'POST',
      path: `/api/v1/deploy/${kind}`,
      access: 'key',
      summary: `Deploy a ${title} model, which ${does}`,
      spends: true,
      body: deployBody,
      response: deployed,
    }),
    quote: endpoint({
      method: 'POST',
      path: `/api/v1/deploy/${kind}/quote`,
      access: 'key',
      summary: `Quote a ${title} deployment: its price and the licence that it needs`,
      body: quoteBody,
      response: quote,
    }),
    list: endpoint({
      method: 'GET',
      path: `/api/v1/deployments/${kind}/user/:userId`,
      access: 'key',
      summary: `List the user's ${title} deployments, newest first`,
      params: userIdParams,
      query: listQuery,
      response: listed,
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
