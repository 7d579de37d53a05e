import * as contract from '@bakehouse/contract/documentation';
import { type Binding, bindPublic } from '../../platform/http/bind.ts';
import { getDocumentation } from './get-documentation.ts';

export const documentationRoutes: Binding[] = [
  bindPublic(contract.getDocumentation, async (ctx) => getDocumentation(ctx)),
];
