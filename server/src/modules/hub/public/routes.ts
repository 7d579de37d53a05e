import * as clones from '@bakehouse/contract/hub/clones';
import * as contract from '@bakehouse/contract/hub/public';
import { type Binding, type BindOptions, bind } from '../../../platform/http/bind.ts';
import { cancelClone, listClones, readLogs, readStatus, retryClone, startClone } from '../clone/clones.ts';
import { describeRepository, type PredictionUses } from './describe-repository.ts';
import { searchHub } from './search-hub.ts';
import { deleteSavedToken, saveToken, showToken } from './tokens.ts';

/** Each call queries the public hub, which has its own rate limit. */
const hubRateLimit: BindOptions = { callsPerMinute: 120 };

/** Routes for the public hub and clones from it. */
export const publicHubRoutes = ({ foresee }: { foresee: PredictionUses }): Binding[] => [
  bind(
    contract.searchHub,
    (ctx, { query }, { client }) => searchHub(ctx, query, client.signal),
    hubRateLimit,
  ),
  bind(
    contract.getHubRepository,
    (ctx, { query }, { client }) => describeRepository(ctx, query, { foresee, signal: client.signal }),
    hubRateLimit,
  ),
  bind(contract.getHubToken, showToken),
  bind(
    contract.saveHubToken,
    (ctx, { body }, { client }) => saveToken(ctx, body.token, client.signal),
    hubRateLimit,
  ),
  bind(contract.deleteHubToken, deleteSavedToken),
  bind(
    clones.startClone,
    (ctx, { query }, { client }) => startClone(ctx, query, client.signal),
    hubRateLimit,
  ),
  bind(clones.cloneStatus, (ctx, { params }) => readStatus(ctx, params)),
  bind(clones.cloneLogs, (ctx, { params }) => readLogs(ctx, params)),
  bind(clones.listClones, (ctx, { query }) => listClones(ctx, query)),
  bind(clones.cancelClone, (ctx, { params }) => cancelClone(ctx, params)),
  bind(clones.retryClone, (ctx, { params }) => retryClone(ctx, params)),
];
