import * as gallery from '@bakehouse/contract/gallery';
import * as kontext from '@bakehouse/contract/kontext';
import * as paris from '@bakehouse/contract/paris';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { deleteKontextImage, editAddress, editUpload, listKontextImages } from './edits.ts';
import { addTrainingPictures } from './gallery/add-training-pictures.ts';
import { linkZip, openZipLink } from './gallery/zip-links.ts';
import { deleteParisImage, estimateParis, generateParis, listParisImages, pollParis } from './paris.ts';

export const imagesRoutes = (usage: IdleCredit): Binding[] => [
  bind(gallery.linkZip, (ctx, { body }) => linkZip(ctx, body)),
  bindPublic(gallery.openZipLink, (ctx, input) => openZipLink(ctx, input)),
  bind(gallery.addTrainingPictures, (ctx, { body }) => addTrainingPictures(ctx, body)),
  bind(paris.generateParisImage, (ctx, { body }, { client }) =>
    generateParis(ctx, usage, body, client.signal),
  ),
  bind(paris.pollParis, (ctx, { body }) => pollParis(ctx, usage, body)),
  bind(paris.estimateParis, (ctx, { body }) => estimateParis(ctx, body)),
  bind(paris.listParisImages, (ctx) => listParisImages(ctx)),
  bind(kontext.editWithStarter, (ctx, input, http) => editUpload(ctx, usage, input, http)),
  bind(kontext.editUrlWithStarter, (ctx, input, http) => editAddress(ctx, usage, input, http)),
  bind(kontext.editWithDeployment, (ctx, input, http) => editUpload(ctx, usage, input, http)),
  bind(kontext.editUrlWithDeployment, (ctx, input, http) => editAddress(ctx, usage, input, http)),
  bind(kontext.listKontextImages, (ctx) => listKontextImages(ctx)),
  bind(kontext.deleteKontextImage, (ctx, { params }) => deleteKontextImage(ctx, params)),
  bind(paris.deleteParisImage, (ctx, { params }) => deleteParisImage(ctx, params)),
];
