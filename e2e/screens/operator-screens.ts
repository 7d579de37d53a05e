import type { OperatorThings } from './create-user-objects.ts';
import type { Screen } from './screens.ts';

/** Screens for an operator, on an unused server. */
export const operatorScreens: Screen<OperatorThings>[] = [
  {
    route: '/operator/codes',
    at: '/operator/codes',
    denied: 'Only operators can see the codes',
    full: 'Workshop',
    failed: 'The codes could not be loaded',
    empty: 'No codes yet',
  },
  {
    route: '/operator/ledger',
    at: '/operator/ledger',
    denied: 'Only operators can see the ledger',
    full: 'All pass',
    failed: 'The ledger could not be loaded',
  },
  {
    route: '/operator/prices',
    at: '/operator/prices',
    denied: 'Only operators can see the prices and their history',
    full: 'Upcoming',
    failed: 'The history could not be loaded',
    empty: 'No changes yet',
  },
  {
    route: '/operator/accounts',
    at: '/operator/accounts',
    denied: 'Only operators can see the accounts',
    full: 'Unverified',
    failed: 'The accounts could not be loaded',
  },
  {
    route: '/operator/accounts',
    at: '/operator/accounts?q=nobody-here',
    full: 'No accounts found',
  },
  {
    route: '/operator/audit',
    at: '/operator/audit',
    denied: 'Only operators can see the audit log',
    full: /granted .* to/,
    failed: 'The audit log could not be loaded',
  },
  { route: '/operator/audit', at: '/operator/audit?user=nobody-here', full: 'No entries' },
  {
    route: '/operator/messages',
    at: '/operator/messages',
    denied: 'Only operators can see the messages',
    full: 'Invoice',
    failed: 'The messages could not be loaded',
    empty: 'No messages yet',
  },
  {
    route: '/operator/access-requests',
    at: '/operator/access-requests',
    denied: 'Only operators can see the access requests',
    full: 'To bake with it',
    failed: 'The requests could not be loaded',
    empty: 'No restricted models yet',
  },
  {
    route: '/operator/machines',
    at: '/operator/machines',
    denied: 'Only operators can see the machines',
    full: 'Driver fake',
    failed: 'The machines could not be loaded',
  },
  {
    route: '/model/source',
    at: '/model/source',
    full: 'Crumb 70B',
    failed: 'The restricted models could not be loaded',
    empty: 'No restricted models yet',
  },
  {
    route: '/model/source/$id/description',
    at: ({ restrictedModel }) => `/model/source/${encodeURIComponent(restrictedModel)}/description`,
    full: 'Crumb 70B',
    failed: 'This model cannot be shown',
  },
];
