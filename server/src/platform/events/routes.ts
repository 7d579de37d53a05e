import * as contract from '@bakehouse/contract/events';
import { type Binding, bind } from '../http/bind.ts';
import { headerText } from '../http/callers/find-caller.ts';
import { streamChanges } from './stream-changes.ts';

export const eventRoutes: Binding[] = [
  bind(contract.streamEvents, async (ctx, _input, { request }) =>
    streamChanges(ctx, headerText(request.headers['last-event-id'])),
  ),
];
