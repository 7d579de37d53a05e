import type { AssetSummary } from '@bakehouse/contract/assets';
import {
  type ImageDeployment,
  type ImageDeploymentKind,
  imageCalls,
} from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import {
  deployVllm,
  quoteVllm,
  type Deployment as TextDeployment,
  terminatePod,
} from '@bakehouse/contract/deployments/text';
import { fluxKontext } from '@bakehouse/contract/generators/flux-kontext';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { paris } from '@bakehouse/contract/generators/paris';
import { wan } from '@bakehouse/contract/generators/wan';

/** Deployments of one family share a list. */
export type Family = 'text' | 'image';
export type Kind = 'text' | ImageDeploymentKind;

export type Deployment = (TextDeployment & { kind: 'text' }) | ImageDeployment;

/**
 * The price of an output in addition to the hours: price id, generator, and the generator's fields for its
 * steps and the experts per step.
 */
export type OutputCost = {
  priceId: string;
  generator: Generator;
  steps: string;
  experts?: string;
  /** The name of the output. Defaults to a picture. */
  makes?: string;
};

type KindWords = {
  initiated: string;
  ready: string;
  failed: string;
  /** Shown if the server gives no reason. */
  failure: string;
  /** Shown if the session has ended. */
  noUser: string;
  /** Completes 'Failed to …'. */
  operations: { deploy: string; terminate: string };
};

type KindRow = {
  family: Family;
  label: string;
  /** One sentence about its use. */
  does: string;
  calls: { deploy: object; quote: object; terminate: object; list?: object };
  /** Returns true if the model can be deployed as this kind. */
  fits: (model: Pick<AssetSummary, 'pipeline' | 'file_count'>) => boolean;
  /** Explains which models fit; undefined if every model with files does. */
  modelsNote?: string;
  terminated: (title: string) => string;
  /** Poll interval for pending deployments while the event stream is down. */
  pollMs: number;
  output?: OutputCost;
  /** Appended to the sentence about the hourly price. */
  tokensNote?: string;
  /** The page where the user works with the model; undefined if that is the deployment's own page. */
  use?: { to: '/flux' | '/flux-kontext' | '/paris' | '/wan'; label: string };
  /** Messages that replace the defaults. */
  words?: KindWords;
  /** True if its `inference_url` is an editing API. */
  edits?: true;
};

const imageModels = (models: string) =>
  `Only ${models} models with a model_index.json are listed. Upload your own under My Models.`;

const flux = {
  family: 'image',
  terminated: () => 'FLUX deployment terminated successfully!',
  output: { priceId: 'edits', generator: fluxKontext, steps: 'num_inference_steps' },
} as const;

/** Labels and behavior of each kind. The first kind of a family is the default. */
export const deploymentKinds = {
  text: {
    family: 'text',
    label: 'Text',
    does: 'Chats here and through the API.',
    calls: { deploy: deployVllm, quote: quoteVllm, terminate: terminatePod },
    fits: ({ pipeline, file_count }) => file_count > 0 && pipeline === null,
    terminated: (title) => `${title} was terminated`,
    tokensNote: ', and for the tokens that it reads and writes',
    pollMs: 5_000,
  },
  'flux-kontext': {
    ...flux,
    label: 'Kontext',
    does: 'Edits pictures from a description.',
    calls: imageCalls['flux-kontext'],
    fits: ({ pipeline }) => isServedAs('flux-kontext', pipeline),
    modelsNote: imageModels('FLUX Kontext'),
    pollMs: 5_000,
    use: { to: '/flux-kontext', label: 'Edit a picture' },
    edits: true,
  },
  flux: {
    ...flux,
    label: 'FLUX',
    does: 'Generates pictures from a prompt.',
    calls: imageCalls.flux,
    fits: ({ pipeline }) => isServedAs('flux', pipeline),
    modelsNote: imageModels('FLUX'),
    pollMs: 10_000,
    use: { to: '/flux', label: 'Generate with it' },
  },
  paris: {
    family: 'image',
    label: 'Paris',
    does: 'Generates pictures with a mixture of experts.',
    calls: imageCalls.paris,
    fits: ({ pipeline }) => isServedAs('paris', pipeline),
    modelsNote: imageModels('Paris'),
    terminated: () => 'Paris deployment terminated successfully!',
    pollMs: 10_000,
    output: { priceId: 'pictures:CPU', generator: paris, steps: 'num_inference_steps', experts: 'k' },
    use: { to: '/paris', label: 'Generate with it' },
  },
  wan: {
    family: 'image',
    label: 'Wan',
    does: 'Generates videos from a prompt, or from a first picture.',
    calls: imageCalls.wan,
    fits: ({ pipeline }) => isServedAs('wan', pipeline),
    modelsNote: imageModels('Wan'),
    terminated: () => 'WAN-2 deployment stopped successfully',
    words: {
      initiated: 'WAN-2 deployment initiated.',
      ready: 'WAN-2 model is ready for video generation!',
      failed: 'WAN-2 deployment failed',
      failure: 'Deployment failed. Please try again.',
      noUser: 'User authentication required',
      operations: { deploy: 'deploy WAN-2 model', terminate: 'stop WAN-2 deployment' },
    },
    pollMs: 5_000,
    output: {
      priceId: 'videos',
      generator: wan,
      steps: 'num_inference_steps',
      makes: 'video of 5 s at 720p',
    },
    use: { to: '/wan', label: 'Make a video' },
  },
} as const satisfies Record<Kind, KindRow>;

/** Returns the row of a kind, typed as `KindRow`. */
export const kindRow = (kind: Kind): KindRow => deploymentKinds[kind];

export const kindsOf = (family: Family): Kind[] =>
  (Object.keys(deploymentKinds) as Kind[]).filter((kind) => deploymentKinds[kind].family === family);

/** Returns the default kind for a model, or undefined if the family has none that fits. */
export function kindFor(family: Family, model: Parameters<KindRow['fits']>[0]): Kind | undefined {
  return kindsOf(family).find((kind) => deploymentKinds[kind].fits(model));
}

export type FamilyPage = '/my-deployments/$podId' | '/my-deployments/images/$podId';

type FamilyRow = {
  list: '/my-deployments' | '/my-deployments/images';
  page: FamilyPage;
  label: string;
  about: string;
  deploy: string;
  deployAbout: string;
  none: string;
  noneAbout: string;
  /** The column that distinguishes the family's models. */
  kindColumn: { header: string; width: string; hideBelow: 'sm' | 'lg' };
  /** Poll interval while the event stream is down, even if no deployment is pending. */
  pollMs?: number;
};

/** Routes and list texts of each family. */
export const families: Record<Family, FamilyRow> = {
  text: {
    list: '/my-deployments',
    page: '/my-deployments/$podId',
    label: 'Text models',
    about: 'You pay while a model is awake, and for the tokens it reads and writes.',
    deploy: 'Deploy a model',
    deployAbout: 'Available here and through the API until you terminate it.',
    none: 'Nothing is deployed',
    noneAbout: 'Deploy a model to chat with it and call it with any OpenAI client.',
    kindColumn: { header: 'Base', width: '10rem', hideBelow: 'lg' },
    pollMs: 5_000,
  },
  image: {
    list: '/my-deployments/images',
    page: '/my-deployments/images/$podId',
    label: 'Picture and video models',
    about:
      'Your own models that generate and edit pictures, or make videos. You pay for the time they are awake, and for each picture or video.',
    deploy: 'Deploy a picture or video model',
    deployAbout: 'Runs on your account until you terminate it.',
    none: 'No picture or video model is deployed',
    noneAbout:
      'Deploy Kontext to edit pictures with a model of your own, FLUX or Paris to generate them, or Wan to make videos.',
    kindColumn: { header: 'Kind', width: '6rem', hideBelow: 'sm' },
  },
};

/** Returns the link to a deployment's page. */
export function linkTo({ kind, pod_id }: { kind: Kind; pod_id: string }) {
  return { to: families[deploymentKinds[kind].family].page, params: { podId: pod_id } };
}

type Status = Deployment['status'];

const pending = new Set<Status>(['queued', 'pending', 'PENDING', 'deploying', 'DEPLOYING']);
const usable = new Set<Status>(['running', 'degraded', 'sleeping', 'READY']);

/** True if the deployment is starting or waking. */
export const isPending = ({ status }: { status: Status }): boolean => pending.has(status);

/** True if the deployment can answer requests, possibly after waking. */
export const isUsable = ({ status }: { status: Status }): boolean => usable.has(status);

/** Returns the badge text; `READY` means asleep. */
export const statusWord = (status: Status): string =>
  status === 'READY' ? 'sleeping' : status.toLowerCase();

const POLL_MS_MAX = 10 * 60_000;

/** Returns the poll interval while any deployment is pending, for at most ten minutes each. */
export function pollMsOf(
  deployments: readonly Pick<Deployment, 'kind' | 'status' | 'created_at'>[],
  now: number,
): number | false {
  const awaited = deployments.filter(
    (one) => isPending(one) && now - Date.parse(one.created_at) < POLL_MS_MAX,
  );
  return awaited.length > 0 && Math.min(...awaited.map(({ kind }) => deploymentKinds[kind].pollMs));
}

/** Returns a deployment's id in the list of long work. */
export const workId = (podId: string): string => `deployment-${podId}`;
