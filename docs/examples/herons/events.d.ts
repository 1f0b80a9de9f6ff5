import 'civic';

// For editors and `tsc`: the payload of each event of this plugin.
declare module 'civic' {
  interface Events {
    'herons.counted': { site: string; birds: number };
  }
}
