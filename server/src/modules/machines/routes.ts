import * as contract from '@bakehouse/contract/machines';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { listWork } from './list-work.ts';

/** What the engine itself knows of machines it binds itself. */
export const workRoutes: Binding[] = [bind(contract.listWork, listWork)];
