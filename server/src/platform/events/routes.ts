import * as contract from '@bakehouse/contract/events';
import { type Binding, bind } from '../http/bind.ts';
import { streamChanges } from './stream-changes.ts';

export const eventRoutes: Binding[] = [
  bind(contract.streamEvents, (ctx, _input, http) => streamChanges(ctx, http)),
];
