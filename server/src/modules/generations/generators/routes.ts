import * as contract from '@bakehouse/contract/generators';
import { type Binding, bindPublic } from '../../../platform/http/bind.ts';
import { listGenerators } from './list-generators.ts';

type Parts = {
  /** Whether this server is still preparing the starter models. */
  isPreparing: () => Promise<boolean>;
};

export function generatorsRoutes({ isPreparing }: Parts): Binding[] {
  return [bindPublic(contract.listGenerators, (ctx) => listGenerators(ctx, isPreparing))];
}
