import { queryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { deploymentKinds } from '../kinds.ts';

/** What serving a text model would cost. */
export const textQuoteQuery = (body: { model_id: string; user_id: string }) =>
  queryOptions({
    queryKey: ['deployment', 'quote', 'text', body],
    queryFn: ({ signal }) =>
      call(deploymentKinds.text.calls.quote, { body }, { signal, operation: 'load the price' }),
  });
