import type { FastifyPluginAsync } from 'fastify';
import { notFoundError } from '../../platform/errors.ts';

const VECTORS =
  'This server has no vector indexes: it stores the files of datasets and models, but does not embed or search their content';
const GIT =
  'This server keeps no Git datasets. Make a dataset with create_asset, and add its files with file_upload';
const LIKES = 'Datasets and models have no likes and no ratings here';

/** Calls of the clients that this product has no equivalent for, each with its error message. */
const unsupported: [path: string, sentence: string][] = [
  ['/api/v1/asset/:id/add', VECTORS],
  ['/api/v1/asset/:id/add_image_file', VECTORS],
  ['/api/v1/asset/:id/query', VECTORS],
  ['/api/v1/clusters', VECTORS],
  ['/api/v1/clusters/*', VECTORS],
  ['/api/v1/share-cluster', VECTORS],
  ['/api/v1/dataset-git', GIT],
  ['/api/v1/datasets/:id/upload-dataset-git', GIT],
  ['/api/v1/download-dataset-git', GIT],
  [
    '/api/v1/asset/:id/buy/:userId',
    'Nothing is for sale here: use your own datasets and models, or the starter models',
  ],
  ['/api/v1/datasets/:id/like', LIKES],
  ['/api/v1/persist', 'Every response is already stored: there is nothing to persist'],
  ['/api/v1/reset', 'This server cannot be reset over its API'],
  ['/join_waitlist/*', 'There is no waiting list: sign up in the web app'],
];

/** Answers unsupported calls with one plain sentence. */
export const rejectUnsupportedCalls: FastifyPluginAsync = async (app) => {
  for (const [url, publicMessage] of unsupported) {
    app.all(url, {
      schema: { hide: true },
      // Reject before the body is read.
      onRequest: async () => {
        throw notFoundError(publicMessage);
      },
      handler: async () => undefined,
    });
  }
};
