import { PARIS_MODEL } from '@bakehouse/contract/paris';

/** The card of the image model that every installation has; its files lie in `models/starter-paris`. */
export const starterImageModel = {
  slug: PARIS_MODEL,
  task: 'image' as const,
  title: 'Paris starter',
  details:
    'The starter image model: eight small experts that were trained apart, and a router that says which of them draw. ' +
    'It draws pictures of 128 x 128 on the CPU of a laptop, so that the Paris page works everywhere. It is no text ' +
    'model: it can neither be deployed nor fine-tuned.',
  category: 'Artificial intelligence',
  family: 'paris',
  tags: ['text-to-image', 'diffusion', 'mixture-of-experts', 'starter'],
};
