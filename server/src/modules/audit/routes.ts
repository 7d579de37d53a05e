import * as contract from '@bakehouse/contract/audit';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { listAudit } from './list-audit.ts';

export const auditRoutes: Binding[] = [bind(contract.listAudit, listAudit)];
