import * as contract from '@bakehouse/contract/privacy';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { deleteAccount } from './delete-account.ts';
import { exportData } from './export-data.ts';
import { previewDeletion } from './preview-deletion.ts';

export const privacyRoutes: Binding[] = [
  bind(contract.previewDeletion, (ctx) => previewDeletion(ctx)),
  // A password can be guessed here.
  bind(contract.deleteAccount, deleteAccount, { callsPerMinute: 5 }),
  bind(contract.exportData, (ctx, _input, { reply }) => exportData(ctx, reply), { callsPerMinute: 5 }),
];
