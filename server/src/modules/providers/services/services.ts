import type { Config } from '../../../config.ts';
import type { Access, Service } from '../service.ts';
import { blackForestLabs } from './black-forest-labs.ts';
import { byteplus } from './byteplus.ts';
import { fal } from './fal.ts';
import { google } from './google.ts';
import { replicate } from './replicate.ts';

export type ServiceName = keyof Config['upstreams'];

/** Every service, by its name in the settings. */
export const services: Record<ServiceName, { title: string; open: (access: Access) => Service }> = {
  blackForestLabs: { title: 'Black Forest Labs', open: blackForestLabs },
  byteplus: { title: 'BytePlus', open: byteplus },
  fal: { title: 'fal', open: fal },
  google: { title: 'Google', open: google },
  replicate: { title: 'Replicate', open: replicate },
};
