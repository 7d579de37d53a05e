import { PARIS_MODEL } from '@bakehouse/contract/paris';
import type { Services } from '../../../platform/context.ts';
import { registerStarterModel } from './register-starter-model.ts';

/** The card of the image model that every installation has; its files come with the program. */
const card = {
  slug: PARIS_MODEL,
  task: 'image' as const,
  title: 'Paris starter',
  details:
    'The starter image model: eight small experts that were trained apart, and a router that says which of them draw. ' +
    'It draws small pictures on the CPU of a laptop, so that the Paris page works everywhere. It is no text model: it ' +
    'can be neither deployed nor fine-tuned.',
  category: 'Artificial intelligence',
  family: 'paris',
  tags: ['text-to-image', 'diffusion', 'mixture-of-experts', 'starter'],
};

/** Makes these files the image model that everybody may use; the same files are the same revision. */
export async function registerImageStarter(
  services: Services,
  files: { path: string; localPath: string }[],
): Promise<{ assetId: string; revisionId: string }> {
  return registerStarterModel(services, { ...card, files });
}
