import * as contract from '@bakehouse/contract/privacy';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { addressOf, type CountCall } from '../../platform/http/callers/rate-limits.ts';
import { deleteAccount, previewDeletion } from './delete-account.ts';
import { exportData } from './export/export-data.ts';

export const privacyRoutes = ({ countGuess }: { countGuess: CountCall }): Binding[] => [
  bind(contract.previewDeletion, (ctx) => previewDeletion(ctx)),
  // Limited like a sign-in, because the password can be guessed here.
  bind(contract.deleteAccount, (ctx, input, { request }) => deleteAccount(ctx, input, addressOf(request)), {
    callsPerMinute: 5,
    countCall: countGuess,
  }),
  bind(contract.exportData, (ctx) => exportData(ctx), { callsPerMinute: 5 }),
];
