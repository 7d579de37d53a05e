/** Display names of the sign-in providers. */
export const providerNames = { github: 'GitHub', google: 'Google' };
