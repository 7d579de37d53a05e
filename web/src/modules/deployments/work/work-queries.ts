import { listImageDeployments } from '@bakehouse/contract/deployments/images';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { readAllPages } from '../../../lib/api/read-all-pages.ts';
import { deploymentKinds } from '../kinds.ts';

/* The deployments that have not ended, or have lately: all of them, however many pages they take. */

const recent = { recent: 'true', limit: 100 } as const;
const operation = 'fetch deployments';

export const textWorkQuery = (userId: string) =>
  queryOptions({
    queryKey: ['deployment', 'list', 'text', userId, 'recent'],
    queryFn: async ({ signal }) => {
      const pages = await readAllPages((cursor) => {
        const query = { ...recent, cursor };
        return call(deploymentKinds.text.calls.list, { params: { userId }, query }, { signal, operation });
      });
      return pages.flatMap(({ pods }) => pods);
    },
  });

export const imageWorkQuery = (userId: string) =>
  queryOptions({
    queryKey: ['deployment', 'list', 'image', userId, 'recent'],
    queryFn: async ({ signal }) => {
      const pages = await readAllPages((cursor) => {
        const query = { ...recent, cursor };
        return call(listImageDeployments, { params: { userId }, query }, { signal, operation });
      });
      return pages.flatMap(({ deployments }) => deployments);
    },
  });
