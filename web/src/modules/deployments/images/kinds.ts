import {
  deployFlux,
  deployFluxKontext,
  deployParis,
  type ImageDeployment,
  type ImageDeploymentKind,
  listFlux,
  listFluxKontext,
  listParis,
  quoteFlux,
  quoteFluxKontext,
  quoteParis,
  terminateFlux,
  terminateFluxKontext,
  terminateParis,
} from '@bakehouse/contract/deployments/images';

const FLUX_TERMINATED = 'FLUX deployment terminated successfully!';

/** What a deployment of each kind is called by, what its pages say, and how its list is read again while the event stream is down. */
export const imageKinds = {
  'flux-kontext': {
    calls: {
      deploy: deployFluxKontext,
      quote: quoteFluxKontext,
      list: listFluxKontext,
      terminate: terminateFluxKontext,
    },
    label: 'Kontext',
    models: 'FLUX Kontext models',
    does: 'Edits pictures as you describe.',
    edits: true,
    terminated: FLUX_TERMINATED,
    pollMs: 5_000,
  },
  flux: {
    calls: { deploy: deployFlux, quote: quoteFlux, list: listFlux, terminate: terminateFlux },
    label: 'FLUX',
    models: 'FLUX models',
    does: 'Generates pictures from a prompt.',
    edits: false,
    terminated: FLUX_TERMINATED,
    pollMs: 10_000,
  },
  paris: {
    calls: { deploy: deployParis, quote: quoteParis, list: listParis, terminate: terminateParis },
    label: 'Paris',
    models: 'Paris models',
    does: 'Generates pictures by several experts.',
    edits: false,
    terminated: 'Paris deployment terminated successfully!',
    pollMs: 10_000,
  },
} as const satisfies Record<ImageDeploymentKind, object>;

type Status = ImageDeployment['status'];

/** On its way to its first answer, or waking up. */
export const pending = new Set<Status>(['pending', 'deploying']);

/** It answers, or wakes to. */
export const usable = new Set<Status>(['running', 'READY']);

const POLL_MS_MAX = 10 * 60_000;

/** Those on their way that are worth asking about again: nobody waits longer than ten minutes for one. */
export function awaitedOf<Deployment extends Pick<ImageDeployment, 'status' | 'created_at'>>(
  deployments: readonly Deployment[],
  now: number,
): Deployment[] {
  return deployments.filter(
    ({ status, created_at }) => pending.has(status) && now - Date.parse(created_at) < POLL_MS_MAX,
  );
}

/** The word of the badge: one that is `READY` sleeps until it is asked. */
export function statusWord(status: Status): string {
  return status === 'READY' ? 'sleeping' : status;
}
