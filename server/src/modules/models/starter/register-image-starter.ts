import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import type { Services } from '../../../platform/context.ts';
import { registerStarterModel } from './register-starter-model.ts';

/** Descriptions of the image starter models, whose files are part of the program. */
const cards = {
  paris: {
    slug: PARIS_MODEL,
    title: 'Paris starter',
    details:
      'The starter image model: eight small experts that were trained apart, and a router that says which of them work. ' +
      'It generates small pictures on the CPU of a laptop, so that the Paris page works everywhere. It is no text model: it ' +
      'can be neither deployed nor fine-tuned.',
    family: 'paris',
    tags: ['text-to-image', 'diffusion', 'mixture-of-experts', 'starter'],
  },
  kontext: {
    slug: KONTEXT_STARTER,
    title: 'Kontext starter',
    details:
      'The starter model that edits pictures: a small FLUX Kontext, which changes a picture as a sentence says. It edits ' +
      'small pictures of simple things on the CPU of a laptop, so that editing works everywhere. It is no text model.',
    family: 'flux-kontext',
    tags: ['image-to-image', 'diffusion', 'flux-kontext', 'starter'],
  },
  wan: {
    slug: WAN_STARTER,
    title: 'Wan starter',
    details:
      'The starter video model: a small Wan, which makes videos of two seconds from a prompt, or from a prompt and the ' +
      'picture that they begin with. It knows simple things in motion, and runs on the CPU of a laptop, so that the Wan ' +
      'page works everywhere. It is no text model.',
    family: 'wan',
    tags: ['text-to-video', 'diffusion', 'wan', 'starter'],
  },
};

/** Registers these files as a shared image model; the same files give the same revision. */
export async function registerImageStarter(
  services: Services,
  name: keyof typeof cards,
  files: { path: string; localPath: string }[],
): Promise<{ assetId: string; revisionId: string }> {
  const card = { ...cards[name], task: 'image' as const, category: 'Artificial intelligence' };
  return registerStarterModel(services, { ...card, files });
}
