/** What a quote calls the hours of an export. */
export const exportPriceLabel = "Export on this machine's CPU, at the price of training there";
