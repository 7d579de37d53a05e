import * as gallery from '@bakehouse/contract/gallery';
import * as contract from '@bakehouse/contract/generations';
import * as kontext from '@bakehouse/contract/kontext';
import * as pictures from '@bakehouse/contract/media';
import * as images from '@bakehouse/contract/openai-images';
import * as paris from '@bakehouse/contract/paris';
import { AppError } from '../../platform/errors.ts';
import { type Binding, bind, bindPublic, type Http } from '../../platform/http/bind.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import { cancelGeneration } from '../generations/cancel-generation.ts';
import { deleteGeneration } from '../generations/delete-generation.ts';
import { getGeneration } from '../generations/get-generation.ts';
import { listGenerations } from '../generations/list-generations.ts';
import { uploadPicture } from '../generations/sources/upload-picture.ts';
import { quoteGeneration } from '../generations/start/quote-generation.ts';
import { startGeneration } from '../generations/start/start-generation.ts';
import { withOwnModel } from '../generations/start/with-own-model.ts';
import { addTrainingPictures } from './gallery/add-training-pictures.ts';
import { linkZip } from './gallery/link-zip.ts';
import { openZipLink } from './gallery/open-zip-link.ts';
import { deleteKontextImage } from './kontext/delete-kontext-image.ts';
import { editAddress } from './kontext/edit-address.ts';
import { editUpload } from './kontext/edit-upload.ts';
import { listKontextImages } from './kontext/list-kontext-images.ts';
import { createImage } from './openai/create-image.ts';
import { editImage } from './openai/edit-image.ts';
import { deleteParisImage } from './paris/delete-paris-image.ts';
import { estimateParis } from './paris/estimate-paris.ts';
import { generateParis } from './paris/generate-paris.ts';
import { listParisImages } from './paris/list-paris-images.ts';
import { pollParis } from './paris/poll-paris.ts';

/** Seconds after which a user with too many open generations may try again. */
const RETRY_AFTER_S = 5;

export const imagesRoutes = (usage: IdleCredit): Binding[] => [
  bind(contract.quoteGeneration, (ctx, { body }) => quoteGeneration(ctx, body)),
  bind(contract.startGeneration, (ctx, { body: { cost_max: costMaxMicro, ...asked } }, http) =>
    withRetryAfter(http, () =>
      startGeneration(ctx, usage, { sent: asked, read: () => withOwnModel(ctx, asked) }, { costMaxMicro }),
    ),
  ),
  bind(contract.listGenerations, (ctx, { query }) => listGenerations(ctx, query)),
  bind(contract.getGeneration, (ctx, { params }) => getGeneration(ctx, params)),
  bind(contract.cancelGeneration, (ctx, { params }) => cancelGeneration(ctx, params)),
  bind(contract.deleteGeneration, (ctx, { params }) => deleteGeneration(ctx, params)),
  bind(pictures.uploadPicture, (ctx, _input, { request }) => uploadPicture(ctx, request)),
  bind(gallery.linkZip, (ctx, { body }) => linkZip(ctx, body)),
  bindPublic(gallery.openZipLink, openZipLink),
  bind(gallery.addTrainingPictures, (ctx, { body }) => addTrainingPictures(ctx, body)),
  bind(images.createImage, (ctx, { body }, http) =>
    withRetryAfter(http, () => createImage(ctx, usage, body, http)),
  ),
  bind(paris.generateParisImage, (ctx, { body }, http) =>
    withRetryAfter(http, () => generateParis(ctx, usage, body, http)),
  ),
  bind(paris.pollParis, (ctx, { body }, http) =>
    withRetryAfter(http, () => pollParis(ctx, usage, body, http)),
  ),
  bind(paris.estimateParis, (ctx, { body }) => estimateParis(ctx, body)),
  bind(paris.listParisImages, (ctx) => listParisImages(ctx)),
  bind(kontext.editWithStarter, (ctx, input, http) =>
    withRetryAfter(http, () => editUpload(ctx, usage, input, http)),
  ),
  bind(kontext.editUrlWithStarter, (ctx, input, http) =>
    withRetryAfter(http, () => editAddress(ctx, usage, input, http)),
  ),
  bind(kontext.editWithDeployment, (ctx, input, http) =>
    withRetryAfter(http, () => editUpload(ctx, usage, input, http)),
  ),
  bind(kontext.editUrlWithDeployment, (ctx, input, http) =>
    withRetryAfter(http, () => editAddress(ctx, usage, input, http)),
  ),
  bind(kontext.listKontextImages, (ctx) => listKontextImages(ctx)),
  bind(kontext.deleteKontextImage, (ctx, { params }) => deleteKontextImage(ctx, params)),
  bind(images.editImage, (ctx, _input, http) => withRetryAfter(http, () => editImage(ctx, usage, http))),
  bind(paris.deleteParisImage, (ctx, { params }) => deleteParisImage(ctx, params)),
];

/** A refusal because of too many open generations says when to come back. */
async function withRetryAfter<Answer>({ reply }: Http, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited')
      reply.header('retry-after', RETRY_AFTER_S);
    throw error;
  }
}
