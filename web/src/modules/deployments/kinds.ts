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

/** Deployments of one family have one list. */
export type Family = 'text' | 'image';
export type Kind = 'text' | ImageDeploymentKind;

export type Deployment = (TextDeployment & { kind: 'text' }) | ImageDeployment;

/** What an output costs beside the hours: its price, and the generator's fields that say its steps and the experts that take each. */
export type OutputCost = {
  priceId: string;
  generator: Generator;
  steps: string;
  experts?: string;
  /** What the price is of, where not a picture. */
  makes?: string;
};

type KindWords = {
  initiated: string;
  ready: string;
  failed: string;
  /** Where nobody says why. */
  failure: string;
  /** Nobody is signed in any more. */
  noUser: string;
  /** Continue 'Failed to'. */
  operations: { deploy: string; terminate: string };
};

type KindRow = {
  family: Family;
  label: string;
  /** What it is good for, in a sentence. */
  does: string;
  calls: { deploy: object; quote: object; terminate: object; list?: object };
  /** Whether a model can be deployed as it. */
  fits: (model: Pick<AssetSummary, 'pipeline' | 'file_count'>) => boolean;
  /** Which models it serves, where not all that have files. */
  modelsNote?: string;
  terminated: (title: string) => string;
  /** How often one on its way is read again while the event stream is down. */
  pollMs: number;
  output?: OutputCost;
  /** Continues a sentence about the price of an hour. */
  tokensNote?: string;
  /** The page where people use it; undefined where its own page is that. */
  use?: { to: '/flux' | '/flux-kontext' | '/paris' | '/wan'; label: string };
  /** What is said of its beginning, where not the words of all others. */
  words?: KindWords;
  /** It has calls of its own at its inference_url, which edit. */
  edits?: true;
};

const imageModels = (models: string) =>
  `Only ${models} models with a model_index.json are listed. Upload your own under My Models.`;

const flux = {
  family: 'image',
  terminated: () => 'FLUX deployment terminated successfully!',
  output: { priceId: 'edits', generator: fluxKontext, steps: 'num_inference_steps' },
} as const;

/** What deployments of each kind are called by, and what is said of them; the first of a family is offered first. */
export const deploymentKinds = {
  text: {
    family: 'text',
    label: 'Text',
    does: 'Chats, here and through the API.',
    calls: { deploy: deployVllm, quote: quoteVllm, terminate: terminatePod },
    fits: ({ pipeline, file_count }) => file_count > 0 && pipeline === null,
    terminated: (title) => `${title} was terminated`,
    tokensNote: ', and for the tokens that it reads and writes',
    pollMs: 5_000,
  },
  'flux-kontext': {
    ...flux,
    label: 'Kontext',
    does: 'Edits pictures as you describe.',
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

/** The same without what tells the rows' types from each other. */
export const kindRow = (kind: Kind): KindRow => deploymentKinds[kind];

export const kindsOf = (family: Family): Kind[] =>
  (Object.keys(deploymentKinds) as Kind[]).filter((kind) => deploymentKinds[kind].family === family);

/** The kind that a model is deployed as unless one chooses; undefined where it cannot be deployed in this family. */
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
  /** The column that says what distinguishes its models. */
  kindColumn: { header: string; width: string; hideBelow: 'sm' | 'lg' };
  /** Read again so often while the event stream is down, also where none is on its way. */
  pollMs?: number;
};

/** Where the deployments of each family are, and what their list says. */
export const families: Record<Family, FamilyRow> = {
  text: {
    list: '/my-deployments',
    page: '/my-deployments/$podId',
    label: 'Text models',
    about: 'You pay while a model is awake, and for the tokens it reads and writes.',
    deploy: 'Deploy a model',
    deployAbout: 'Available here and through the API until you terminate it.',
    none: 'Nothing is deployed',
    noneAbout: 'Deploy a model to chat with it here and call it with any OpenAI client.',
    kindColumn: { header: 'Base', width: '10rem', hideBelow: 'lg' },
    pollMs: 5_000,
  },
  image: {
    list: '/my-deployments/images',
    page: '/my-deployments/images/$podId',
    label: 'Image models',
    about:
      'Your own models that generate and edit pictures, or make videos. You pay for the time they are awake, and for each picture or video.',
    deploy: 'Deploy an image model',
    deployAbout: 'Runs on your account until you terminate it.',
    none: 'No image model is deployed',
    noneAbout:
      'Deploy Kontext to edit pictures with a model of your own, FLUX or Paris to generate them, or Wan to make videos.',
    kindColumn: { header: 'Kind', width: '6rem', hideBelow: 'sm' },
  },
};

/** The address of a deployment's page. */
export function linkTo({ kind, pod_id }: { kind: Kind; pod_id: string }) {
  return { to: families[deploymentKinds[kind].family].page, params: { podId: pod_id } };
}

type Status = Deployment['status'];

const pending = new Set<Status>(['queued', 'pending', 'PENDING', 'deploying', 'DEPLOYING']);
const usable = new Set<Status>(['running', 'degraded', 'sleeping', 'READY']);

/** On its way to its first answer, or waking up. */
export const isPending = ({ status }: { status: Status }): boolean => pending.has(status);

/** It answers, or wakes to. */
export const isUsable = ({ status }: { status: Status }): boolean => usable.has(status);

/** The word of the badge: one that is `READY` sleeps until it is asked. */
export const statusWord = (status: Status): string =>
  status === 'READY' ? 'sleeping' : status.toLowerCase();

const POLL_MS_MAX = 10 * 60_000;

/** How soon these are read again for the sake of those on their way; nobody waits longer than ten minutes for one. */
export function pollMsOf(
  deployments: readonly Pick<Deployment, 'kind' | 'status' | 'created_at'>[],
  now: number,
): number | false {
  const awaited = deployments.filter(
    (one) => isPending(one) && now - Date.parse(one.created_at) < POLL_MS_MAX,
  );
  return awaited.length > 0 && Math.min(...awaited.map(({ kind }) => deploymentKinds[kind].pollMs));
}

/** A deployment's id in the list of long work. */
export const workId = (podId: string): string => `deployment-${podId}`;
