import * as contract from '@bakehouse/contract/machines';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { listWork } from './list-work.ts';

/** Machine routes that the engine does not bind itself. */
export const workRoutes: Binding[] = [bind(contract.listWork, listWork)];
