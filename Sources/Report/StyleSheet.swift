/// The page's only style sheet; the content-security policy names its hash.
enum StyleSheet {
    static let text: StaticString = """
        :root{color-scheme:light dark;--paper:#fcfcfa;--card:#fff;--ink:#1c2230;--soft:#596273;\
        --line:#dcdfe5;--exact:#1f57b5;--told:#a4560a;--good:#17713d;--bad:#b02a22;--mute:#6a7280;\
        --plus:#e3f5e8;--minus:#fbe6e4;--hunk:#eef1f7}
        @media (prefers-color-scheme:dark){:root{--paper:#12151b;--card:#191e26;--ink:#e6e9ef;\
        --soft:#a3adbd;--line:#323a47;--exact:#7fb0ff;--told:#f0ad5e;--good:#63cf8e;--bad:#ff8f85;\
        --mute:#98a2b3;--plus:#153322;--minus:#40201f;--hunk:#232a35}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
        main{max-width:68rem;margin:0 auto;padding:1.5rem 1rem 4rem}
        h1{font-size:1.9rem;line-height:1.2;margin:0;overflow-wrap:anywhere}
        h2{font-size:1.3rem;margin:2.75rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--line)}
        h3{font-size:1.05rem;margin:0 0 .5rem;display:flex;gap:.5rem;align-items:center;flex-wrap:wrap}
        p{margin:.5rem 0;max-width:46rem}
        code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.86em}
        code{overflow-wrap:anywhere}
        .skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--card);padding:.5rem}
        :focus-visible{outline:2px solid var(--exact);outline-offset:2px}
        .kicker{margin:0;color:var(--soft);font-size:.8rem;letter-spacing:.08em;text-transform:uppercase}
        .sub,.note,.empty,.when,figcaption{color:var(--soft)}
        .note{font-size:.85rem}
        .seal{border-left:4px solid;padding:.6rem .9rem;background:var(--card);max-width:none;overflow-wrap:anywhere}
        .seal.good{border-color:var(--good)}.seal.good b{color:var(--good)}
        .seal.bad{border-color:var(--bad);background:var(--minus)}.seal.bad b{color:var(--bad)}
        .alarms{border-left:4px solid var(--told);background:var(--card);padding:.6rem .9rem;margin:.75rem 0}
        .alarms ul{margin:.2rem 0 0;padding-left:1.2rem}
        .tiles{list-style:none;margin:1.25rem 0 0;padding:0;display:grid;gap:.75rem;\
        grid-template-columns:repeat(auto-fit,minmax(9rem,1fr))}
        .tiles li{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.7rem .85rem}
        .tiles span{display:block}.name{font-size:.8rem;color:var(--soft)}
        .figure{font-size:1.5rem;font-weight:650;font-variant-numeric:tabular-nums;line-height:1.3}
        figure{margin:1rem 0}
        .plot{display:block;width:100%;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
        .grid{stroke:var(--line)}.strip{stroke-dasharray:2 4}
        .scale{fill:var(--soft);font-size:11px;font-variant-numeric:tabular-nums}
        .value{fill:var(--ink);font-size:12px;font-weight:650}
        .exact{stroke:var(--exact);stroke-width:2.5;fill:none}
        .released{stroke:var(--told);stroke-width:1.5;stroke-dasharray:5 4;fill:none}
        .floor{stroke:var(--mute);stroke-width:1.5;stroke-dasharray:1 4;fill:none}
        .mark{fill:none;stroke-width:2.25;stroke-linecap:round}
        .baseline{fill:var(--exact);stroke:var(--exact)}
        svg.accepted{fill:var(--good);stroke:var(--card)}
        svg.rejected{stroke:var(--bad)}svg.void,svg.undecided{stroke:var(--mute)}
        svg.told{stroke:var(--told);fill:var(--card);stroke-width:1.5}
        .legend,.tags{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.6rem 0 0;padding:0;font-size:.9rem}
        .legend li{display:flex;align-items:center;gap:.3rem}
        .tags{gap:.3rem;margin:.2rem 0}.tags li{background:var(--hunk);border-radius:.3rem;padding:0 .4rem}
        .tags code,.level{white-space:nowrap}
        .key{flex:none}
        article{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--mute);\
        border-radius:.5rem;padding:.9rem 1rem;margin:.9rem 0}
        article.accepted{border-left-color:var(--good)}article.rejected{border-left-color:var(--bad)}
        article.accepted .verdict{color:var(--good)}article.rejected .verdict{color:var(--bad)}
        .verdict{font-weight:500;color:var(--soft)}
        b.attempt{color:var(--bad)}b.denied{color:var(--ink)}b.adjusted{font-weight:500;color:var(--soft)}
        blockquote{margin:.4rem 0;padding-left:.8rem;border-left:2px solid var(--line);color:var(--soft)}
        .prose{white-space:pre-line;overflow-wrap:anywhere}
        .figures{max-width:none;font-size:.93rem}
        .reasons,.findings ul{margin:.4rem 0;padding-left:1.5rem}
        .promoted,.findings{font-size:.93rem;margin:.4rem 0}
        summary{cursor:pointer;color:var(--exact);padding:.2rem 0}
        .plus{color:var(--good)}.minus{color:var(--bad)}
        .diff{overflow:auto;margin:.5rem 0 0;padding:.6rem 0;border:1px solid var(--line);border-radius:.4rem;\
        line-height:1.45;tab-size:4;max-height:40rem}
        .diff span{display:inline-block;min-width:100%;padding:0 .8rem}
        .diff .plus{background:var(--plus);color:inherit}.diff .minus{background:var(--minus);color:inherit}
        .diff .hunk{color:var(--soft);background:var(--hunk)}
        .scroll{overflow-x:auto;margin:.75rem 0}
        table{border-collapse:collapse;width:100%;font-size:.92rem}
        caption{text-align:left;color:var(--soft);font-size:.85rem;padding-bottom:.3rem}
        th,td{text-align:left;vertical-align:top;padding:.4rem .7rem .4rem 0;border-bottom:1px solid var(--line);\
        font-variant-numeric:tabular-nums}
        thead th{color:var(--soft);font-weight:600;white-space:nowrap}tbody th{font-weight:600;min-width:6.5rem}
        td .prose{display:block;min-width:14rem}
        .bar{fill:var(--line);vertical-align:middle}.bar .part{fill:var(--good)}
        .facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.6rem 1.5rem;margin:.75rem 0}
        .facts dt{font-size:.8rem;color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
        .notes{padding-left:1.2rem}.notes li{margin:.35rem 0}
        .when{font-size:.85rem;margin-right:.4rem}
        @media print{:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--exact:#1f57b5;\
        --told:#a4560a;--good:#17713d;--bad:#b02a22;--mute:#555;--plus:#eee;--minus:#f6f6f6;--hunk:#f2f2f2}\
        body{font-size:10pt}main{max-width:none;padding:0}.skip{display:none}\
        article,figure,tr{break-inside:avoid}h2,h3{break-after:avoid}\
        .diff{max-height:none;white-space:pre-wrap;overflow:visible}.scroll{overflow:visible}\
        details::details-content{content-visibility:visible;block-size:auto}}
        """
}
