import type { NavItem } from '../navigation/nav-items.ts';

/** With synonyms to search by. */
export type FoundItem = NavItem & { words: string };

/** Synonyms of sidebar pages; only the palette and the search box need them. */
export const sidebarWords: Record<string, string> = {
  Dashboard: 'home overview start',
  Profile: 'account password email username settings',
  Chat: 'ask question playground conversation talk llm text',
  'Instant Generation': 'image picture film video generate prompt flux veo paris',
  'Deploy Models': 'serve inference deployment stop terminate endpoint vllm llm text',
  'My Datasets': 'data files upload rows',
  'My Models': 'weights adapter fine-tuned',
  'Diffusion Training': 'fine-tune train image models pictures',
  'LLM Training': 'fine-tune train runs loss curves cancel resume',
  'API-Key': 'token secret key code sdk openai curl',
  'Buy Credits': 'bagels top up purchase pay price prices',
  'Send Credits': 'transfer bagels pay give user recipient',
  'Transaction History': 'bill billing invoice statement spend spending cost usage balance',
  'Invite friends': 'referral refer invitation bonus code friend share',
  Documentation: 'docs help manual guide api reference openapi calls',
  'Contact Us': 'support help question message problem write',
  Ledger: 'operator grant accounts',
  Codes: 'operator voucher coupon redeem credits',
  Prices: 'operator price list costs change',
  Accounts: 'operator users people balances',
  'Audit log': 'operator history who changed security',
  Messages: 'operator contact support inbox',
  Machines: 'operator servers gpu queue',
  'Access requests': 'operator restricted models grant refuse',
};

/** Adds synonyms to a sidebar item. */
export function withWords(item: NavItem): FoundItem {
  return { ...item, words: sidebarWords[item.label] ?? '' };
}
