import * as accounts from '@bakehouse/contract/accounts';
import * as apiKeys from '@bakehouse/contract/api-keys';
import * as assets from '@bakehouse/contract/assets';
import * as chat from '@bakehouse/contract/chat';
import * as credits from '@bakehouse/contract/credits';
import * as deployments from '@bakehouse/contract/deployments';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import * as events from '@bakehouse/contract/events';
import * as machine from '@bakehouse/contract/machine';
import * as training from '@bakehouse/contract/training';
import * as workloads from '@bakehouse/contract/workloads';

const modules = [accounts, apiKeys, assets, chat, credits, deployments, events, machine, training, workloads];

/** What generated clients call each endpoint: the name that it has in the contract. */
export const operationIds: Map<Endpoint, string> = new Map(
  modules
    .flatMap((module): [string, unknown][] => Object.entries(module))
    .flatMap(([name, value]): [Endpoint, string][] => (isEndpoint(value) ? [[value, name]] : [])),
);

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'access' in value && 'path' in value;
}
