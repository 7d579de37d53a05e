import * as contract from '@bakehouse/contract/generators';
import { type Binding, bindPublic } from '../../platform/http/bind.ts';
import { listGenerators } from './list-generators.ts';

export const generatorsRoutes: Binding[] = [
  bindPublic(contract.listGenerators, (ctx) => listGenerators(ctx)),
];
