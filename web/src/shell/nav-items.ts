import type { LinkProps } from '@tanstack/react-router';
import {
  Boxes,
  CircleUser,
  CreditCard,
  Database,
  GraduationCap,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  ReceiptText,
  Rocket,
  Scale,
} from 'lucide-react';

export type NavItem = { label: string; to: LinkProps['to'] & string; icon: LucideIcon };
export type NavGroup = { label: string | null; items: NavItem[] };

const groups: NavGroup[] = [
  { label: null, items: [{ label: 'Dashboard', to: '/dashboard', icon: LayoutDashboard }] },
  {
    label: 'Deployments',
    items: [
      { label: 'Deploy Models', to: '/my-deployments', icon: Rocket },
      { label: 'My Datasets', to: '/dataset', icon: Database },
      { label: 'My Models', to: '/model', icon: Boxes },
      { label: 'LLM Training', to: '/llm-training', icon: GraduationCap },
    ],
  },
  {
    label: 'Billing & Usage',
    items: [
      { label: 'Buy Credits', to: '/buy-bagels', icon: CreditCard },
      { label: 'Transaction History', to: '/transactions', icon: ReceiptText },
    ],
  },
  {
    label: 'Account',
    items: [
      { label: 'Profile', to: '/profile', icon: CircleUser },
      { label: 'API-Key', to: '/api-key', icon: KeyRound },
    ],
  },
];

const operatorGroup: NavGroup = {
  label: 'Operator',
  items: [{ label: 'Ledger', to: '/operator/ledger', icon: Scale }],
};

/** The sidebar's groups; operators have one more. */
export function navGroups(isOperator: boolean): NavGroup[] {
  return isOperator ? [...groups, operatorGroup] : groups;
}
