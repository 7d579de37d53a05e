import type { AuditAction, AuditEntry } from '@bakehouse/contract/audit';
import { countOf } from '../../../lib/format/count-of.ts';

/** Text, or a user whose name links to their entries. */
export type Part = string | { userId: string; name: string };

type Describe = (what: {
  detail: Record<string, string>;
  /** Returns the quoted name, or `otherwise` if the object no longer exists. */
  named: (field: string, otherwise: string) => string;
  person: (field: string) => Part;
  /** Formats an API amount in the reader's currency. */
  amount: (field: string) => string;
  browser: () => string;
}) => Part[];

const DELETED = 'Deleted user';

/** Predicates of the sentences; the subject is the user who acted. */
const predicates: Record<AuditAction, Describe> = {
  'access.granted': ({ person, detail }) => [
    'granted ',
    person('to_user_id'),
    ` access to ${detail.model_id}`,
  ],
  'access.refused': ({ person, detail }) => [
    'refused ',
    person('to_user_id'),
    ` access to ${detail.model_id}`,
  ],
  'access.requested': ({ detail }) => [`requested access to ${detail.model_id}`],
  'address.confirmation_requested': () => ['was sent a link to confirm their email address'],
  'address.proven': ({ detail }) => [`confirmed their email address ${proofs[detail.by ?? ''] ?? ''}`.trim()],
  'api_key.changed': ({ named }) => [`changed ${named('key_id', 'an API key')}`],
  'api_key.created': ({ named }) => [`created ${named('key_id', 'an API key')}`],
  'api_key.revoked': ({ named }) => [`revoked ${named('key_id', 'an API key')}`],
  'api_key.rotated': ({ named }) => [`replaced ${named('key_id', 'an API key')} with a new one`],
  'asset.branch_created': ({ detail, named }) => [
    `created the branch ${detail.branch} of ${named('asset_id', 'a dataset or model')}`,
  ],
  'asset.branch_deleted': ({ detail, named }) => [
    `deleted the branch ${detail.branch} of ${named('asset_id', 'a dataset or model')}`,
  ],
  'asset.changed': ({ named }) => [`edited ${named('asset_id', 'a dataset or model')}`],
  'asset.committed': ({ named }) => [`saved a new version of ${named('asset_id', 'a dataset or model')}`],
  'asset.created': ({ detail }) => [
    `created the ${detail.type === 'MODEL' ? 'model' : 'dataset'} ${quoted(detail.title)}`,
  ],
  'asset.deleted': ({ detail }) => [`deleted ${detail.title ? quoted(detail.title) : 'a dataset or model'}`],
  'asset.file_deleted': ({ detail, named }) => [
    `deleted ${detail.path} from ${named('asset_id', 'a dataset or model')}`,
  ],
  'asset.file_uploaded': ({ detail, named }) => [
    `uploaded ${detail.path} to ${named('asset_id', 'a dataset or model')}`,
  ],
  'asset.files_added': ({ detail, named }) => [
    `added ${countOf(Number(detail.files), 'file')} to ${named('asset_id', 'a dataset or model')}`,
  ],
  'asset.published': ({ named }) => [`published ${named('asset_id', 'a dataset or model')}`],
  'asset.renamed': ({ detail, named }) => [
    `renamed the repository of ${named('asset_id', 'a dataset or model')} to ${detail.name}`,
  ],
  'asset.shared': ({ named, person }) => [
    `shared ${named('asset_id', 'a dataset or model')} with `,
    person('to_user_id'),
  ],
  'asset.tagged': ({ detail, named }) => [
    `tagged a version of ${named('asset_id', 'a dataset or model')} with ${detail.tag}`,
  ],
  'asset.unpublished': ({ named }) => [`unpublished ${named('asset_id', 'a dataset or model')}`],
  'asset.unshared': ({ named, person }) => [
    `stopped sharing ${named('asset_id', 'a dataset or model')} with `,
    person('to_user_id'),
  ],
  'asset.untagged': ({ detail, named }) => [
    `deleted the tag ${detail.tag} of ${named('asset_id', 'a dataset or model')}`,
  ],
  'clone.started': ({ detail }) => [`started a clone of ${detail.repo_id}`],
  'code.redeemed': ({ amount }) => [`redeemed a code for ${amount('amount')}`],
  'code.revoked': () => ['revoked a code'],
  'codes.created': ({ detail, amount }) => [
    `created ${countOf(Number(detail.count), 'code')} worth ${amount('amount')}${detail.count === '1' ? '' : ' each'}`,
  ],
  // Earlier versions recorded no amount for purchases and reversals.
  'credits.bought': ({ detail, amount }) => [detail.amount ? `bought ${amount('amount')}` : 'bought credits'],
  'credits.charged_back': ({ person, amount }) => [`took back ${amount('amount')} from `, person('payer_id')],
  'credits.granted': ({ person, amount }) => [`granted ${amount('amount')} to `, person('recipient_id')],
  'credits.reinstated': ({ amount }) => [
    `got ${amount('amount')} back because a refund failed or a dispute was won`,
  ],
  'credits.reversed': ({ detail, amount }) => [
    `was refunded a payment or disputed it, and ${detail.amount ? `${amount('amount')} was` : 'its credits were'} taken back`,
  ],
  'credits.sent': ({ person, amount }) => [`sent ${amount('amount')} to `, person('recipient_id')],
  'credits.written_off': ({ amount }) => [`owed ${amount('amount')}, which was written off with the account`],
  'deployment.created': ({ named }) => [`deployed ${named('model_id', 'a model')}`],
  'deployment.ended': ({ named }) => [`ended the deployment of ${named('model_id', 'a model')}`],
  'generation.shared': () => ['shared a picture or video by a link'],
  'generation.unshared': () => ['stopped sharing a picture or video'],
  'hub_token.deleted': () => ['deleted their access token for the public hub'],
  'tracker.deleted': ({ detail }) => [`disconnected ${detail.service}`],
  'tracker.saved': ({ detail }) => [`connected ${detail.service}`],
  'hub_token.saved': ({ detail }) => [`saved an access token of ${detail.account} for the public hub`],
  'licence.accepted': ({ detail }) => [`accepted the license ${detail.licence}`],
  'operator.made': () => ['was made an operator'],
  'password.changed': () => ['changed their password'],
  'password.reset': () => ['reset their password'],
  // Anyone who knows the address can request the link.
  'password.reset_requested': () => ['was sent a link to reset their password'],
  'price.changed': ({ detail, amount }) => [
    `changed the price ${detail.price_id} from ${amount('previous')} to ${amount('unit_price')}`,
  ],
  'profile.changed': () => ['changed their profile'],
  'purchase.closed': ({ detail }) => [
    detail.status === 'failed'
      ? 'tried to pay for credits, but the payment failed'
      : 'did not pay for the credits they were buying',
  ],
  'purchase.refused': ({ detail }) => [`made a payment that was not credited: ${detail.reason}`],
  'purchase.started': ({ amount }) => [`started to buy ${amount('amount')}`],
  'referral.counted': ({ person, amount }) => [
    'accepted the invitation of ',
    person('inviter_id'),
    `; each got ${amount('bonus')}`,
  ],
  'referral.posted': () => ['posted their invitation on X'],
  'restricted_model.deleted': ({ detail }) => [`removed the restricted model ${detail.model_id}`],
  'restricted_model.saved': ({ detail }) => [`saved the restricted model ${detail.model_id}`],
  'run.cancelled': ({ named }) => [`cancelled the training of ${named('model_id', 'a model')}`],
  'run.resumed': ({ named }) => [`resumed the training of ${named('model_id', 'a model')}`],
  'run.started': ({ named }) => [`started the training of ${named('model_id', 'a model')}`],
  'session.created': ({ browser }) => [`signed in with ${browser()}`],
  'session.ended': () => ['signed out one of their browsers'],
  'session.others_ended': ({ detail }) => [`signed out ${countOf(Number(detail.ended), 'other browser')}`],
  'sign_in_method.linked': ({ detail }) => [`linked ${providers[detail.provider ?? ''] ?? detail.provider}`],
  'sign_in_method.unlinked': () => ['removed a sign-in method'],
  'user.created': () => ['signed up'],
  'user.deleted': () => ['deleted their account'],
  'x_account.connected': ({ detail }) => [`connected the X account @${detail.username}`],
  'x_account.disconnected': ({ detail }) => [
    detail.username ? `disconnected the X account @${detail.username}` : 'had their X account disconnected',
  ],
};

const providers: Record<string, string> = { github: 'GitHub', google: 'Google' };

const proofs: Record<string, string> = {
  mail: 'with the link in an email',
  reset_link: 'by resetting their password',
  provider: 'through a sign-in provider',
  own_provider: 'through a sign-in provider',
};

type Show = {
  amount: (bgl: string) => string;
  browser: (userAgent: string) => string;
};

/** Returns an entry as a sentence: 'ada deployed “Baker”'. Shows the name of an unknown action as words. */
export function describeEntry(entry: AuditEntry, show: Show): Part[] {
  const { action, detail, names, user_id, username } = entry;
  const by: Part = user_id === null ? 'The server' : personOf(user_id, username);
  const describe = Object.hasOwn(predicates, action) ? predicates[action as AuditAction] : null;
  if (!describe) return [by, ` – ${action.replaceAll(/[._]/g, ' ')}`];
  const predicate = describe({
    detail,
    named: (field, otherwise) => {
      const name = names[detail[field] ?? ''];
      if (name === undefined) return otherwise;
      return field === 'key_id' ? `the API key ${quoted(name)}` : quoted(name);
    },
    person: (field) => personOf(detail[field] ?? '', names[detail[field] ?? ''] ?? null),
    amount: (field) => show.amount(detail[field] ?? '0'),
    browser: () => show.browser(detail.user_agent ?? ''),
  });
  return [by, ' ', ...predicate];
}

function personOf(userId: string, name: string | null): Part {
  return name === null ? DELETED : { userId, name };
}

function quoted(name: string | undefined): string {
  return `“${name}”`;
}
