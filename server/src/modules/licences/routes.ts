import * as contract from '@bakehouse/contract/licences';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { acceptLicence, listLicences } from './licences.ts';

export const licencesRoutes: Binding[] = [
  bind(contract.listLicences, (ctx) => listLicences(ctx)),
  bind(contract.acceptLicence, (ctx, { body }) => acceptLicence(ctx, body)),
];
