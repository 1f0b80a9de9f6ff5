import type { Parameters } from './weights.ts';

/** Estimated by `estimate` on the training split of the synthetic records (`trainedParameters`); a test keeps the two equal. */
export const DEFAULTS: Record<'person' | 'organization', Parameters> = {
  person: {
    prior: 0.9057,
    fields: {
      name: {
        m: { exact: 0.5852, close: 0.3202, partial: 0.0944, disagree: 0.0002 },
        u: { exact: 0.737, close: 0.2239, partial: 0.007, disagree: 0.0322 },
      },
      place: {
        m: { exact: 0.9457, close: 0.0008, partial: 0.0071, disagree: 0.0464 },
        u: { exact: 0.015, close: 0.0026, partial: 0.2203, disagree: 0.7621 },
      },
      website: {
        m: { exact: 0.7606, close: 0.0075, partial: 0.2293, disagree: 0.0026 },
        u: { exact: 0.025, close: 0.022, partial: 0.0741, disagree: 0.8789 },
      },
      email: {
        m: { exact: 0.9346, close: 0.0359, partial: 0.0148, disagree: 0.0146 },
        u: { exact: 0.0072, close: 0.0219, partial: 0.014, disagree: 0.9569 },
      },
      phone: {
        m: { exact: 0.8365, close: 0.0019, partial: 0.0013, disagree: 0.1603 },
        u: { exact: 0.0064, close: 0.0048, partial: 0.0145, disagree: 0.9744 },
      },
      identifier: {
        m: { exact: 0.9779, close: 0.0107, partial: 0.0071, disagree: 0.0042 },
        u: { exact: 0.0191, close: 0.0182, partial: 0.0547, disagree: 0.908 },
      },
      issue_areas: {
        m: { exact: 0.5008, close: 0.0014, partial: 0.1727, disagree: 0.3251 },
        u: { exact: 0.007, close: 0.0045, partial: 0.4298, disagree: 0.5587 },
      },
    },
  },
  organization: {
    prior: 0.9795,
    fields: {
      name: {
        m: { exact: 0.7752, close: 0.2158, partial: 0.0088, disagree: 0.0002 },
        u: { exact: 0.6148, close: 0.0093, partial: 0.2475, disagree: 0.1283 },
      },
      place: {
        m: { exact: 0.9407, close: 0.0008, partial: 0.0206, disagree: 0.0379 },
        u: { exact: 0.0243, close: 0.01, partial: 0.3109, disagree: 0.6549 },
      },
      website: {
        m: { exact: 0.9177, close: 0.0806, partial: 0.0011, disagree: 0.0006 },
        u: { exact: 0.0644, close: 0.0333, partial: 0.0564, disagree: 0.8458 },
      },
      email: {
        m: { exact: 0.6769, close: 0.0254, partial: 0.275, disagree: 0.0227 },
        u: { exact: 0.0276, close: 0.0175, partial: 0.0548, disagree: 0.9002 },
      },
      phone: {
        m: { exact: 0.8026, close: 0.0017, partial: 0.0011, disagree: 0.1945 },
        u: { exact: 0.0278, close: 0.0211, partial: 0.0632, disagree: 0.8879 },
      },
      identifier: {
        m: { exact: 0.9773, close: 0.0113, partial: 0.0075, disagree: 0.0038 },
        u: { exact: 0.0408, close: 0.04, partial: 0.1199, disagree: 0.7993 },
      },
      issue_areas: {
        m: { exact: 0.5049, close: 0.0013, partial: 0.1727, disagree: 0.3211 },
        u: { exact: 0.0172, close: 0.0143, partial: 0.4854, disagree: 0.4831 },
      },
    },
  },
};
