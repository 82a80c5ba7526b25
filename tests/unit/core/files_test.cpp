// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/files.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/is_there.hpp"
#include "bigbird/core/system/child_process.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

using namespace bigbird;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

DOCTEST_TEST_CASE("files: a whole file appears, in a folder made for it, and nothing else stays") {
    const testing::TempDir folder;
    write_atomically(folder / "new/deep/out.txt", Overwrite::refuse,
                     [](std::ostream& out) { out << "text"; });
    DOCTEST_CHECK(testing::read_file(folder / "new/deep/out.txt") == "text");
    DOCTEST_CHECK(entries(folder / "new/deep") == 1);
}

DOCTEST_TEST_CASE("files: a failing writer leaves the old file and no other") {
    const testing::TempDir folder;
    testing::write_file(folder / "out", "old");
    DOCTEST_CHECK_THROWS_AS(write_atomically(folder / "out", Overwrite::allow,
                                             [](std::ostream& out) {
                                                 out << "half";
                                                 throw InputError("broken");
                                             }),
                            InputError);
    DOCTEST_CHECK(testing::read_file(folder / "out") == "old");
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: an existing output is refused without force and replaced with it") {
    const testing::TempDir folder;
    testing::write_file(folder / "out", "old");
    const std::string message =
        testing::message_of<ConfigError>([&] { prepare_output(folder / "out", Overwrite::refuse); });
    DOCTEST_CHECK(message.find("exists already; give another --output, or --force to replace it") !=
                  std::string::npos);
    write_atomically(folder / "out", Overwrite::allow, [](std::ostream& out) { out << "new"; });
    DOCTEST_CHECK(testing::read_file(folder / "out") == "new");
}

DOCTEST_TEST_CASE("files: a pending folder replaces a full one on commit and vanishes without") {
    const testing::TempDir folder;
    fs::create_directory(folder / "run");
    testing::write_file(folder / "run/old", "old");
    testing::write_file(folder / "run/manifest.json", R"({"made_by": "bigbird-dna 0.1.0"})");
    {
        const PendingOutput dropped(folder / "run", Overwrite::allow, PendingOutput::Kind::folder);
        testing::write_file(dropped.path() / "new", "new");
    }
    DOCTEST_CHECK(fs::exists(folder / "run/old"));
    {
        PendingOutput kept(folder / "run/", Overwrite::allow, PendingOutput::Kind::folder);
        testing::write_file(kept.path() / "new", "new");
        kept.commit();
    }
    DOCTEST_CHECK(!fs::exists(folder / "run/old"));
    DOCTEST_CHECK(testing::read_file(folder / "run/new") == "new");
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: no folder of others is replaced, and none by a file") {
    const testing::TempDir folder;
    fs::create_directories(folder / "project/sources");
    fs::create_directory(folder / "empty");
    fs::create_directory(folder / "model");
    testing::write_file(folder / "project/manifest.json", R"({"name": "of others"})");
    testing::write_file(folder / "model/config.json", R"({"model_type": "big_bird"})");
    const auto message = [&](const fs::path& target, PendingOutput::Kind kind) {
        return testing::message_of<ConfigError>([&] { PendingOutput(target, Overwrite::allow, kind); });
    };
    for (const auto kind : {PendingOutput::Kind::file, PendingOutput::Kind::folder}) {
        for (const char* name : {"project", "project/"})
            DOCTEST_CHECK(message(folder / name, kind).find("did not write") != std::string::npos);
        for (const char* name : {"project/.", "project/..", ".", "..", "/"}) {
            DOCTEST_CAPTURE(name);
            DOCTEST_CHECK(message(name == std::string("/") ? fs::path(name) : folder / name, kind)
                              .find("cannot be replaced") != std::string::npos);
        }
    }
    DOCTEST_CHECK_THROWS_AS(prepare_output(folder / "project", Overwrite::allow), ConfigError);
    for (const char* name : {"empty", "model"}) {
        DOCTEST_CHECK(message(folder / name, PendingOutput::Kind::file).find("is a folder, where a file") !=
                      std::string::npos);
        DOCTEST_CHECK_NOTHROW(PendingOutput(folder / name, Overwrite::allow, PendingOutput::Kind::folder));
    }
    DOCTEST_CHECK(fs::exists(folder / "project/sources"));
    DOCTEST_CHECK(entries(folder.path()) == 3);
}

DOCTEST_TEST_CASE("files: one name is not for two outputs of one command") {
    const testing::TempDir folder;
    fs::create_directory_symlink(".", folder / "same");
    {
        const PendingOutput first(folder / "out", Overwrite::allow);
        DOCTEST_CHECK(testing::message_of<ConfigError>([&] {
                          PendingOutput(folder / "same/out", Overwrite::allow);
                      }) == (folder / "same/out").string() + ": is named for two outputs");
        DOCTEST_CHECK_NOTHROW(PendingOutput(folder / "other", Overwrite::allow));
    }
    DOCTEST_CHECK_NOTHROW(PendingOutput(folder / "out", Overwrite::allow));
}

DOCTEST_TEST_CASE("files: what is no input is named, pipes and devices that end can be read") {
    const testing::TempDir folder;
    DOCTEST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    const std::pair<fs::path, const char*> refused[] = {{folder / "x", ": no such file"},
                                                        {folder.path(), ": is a folder, a file is needed"},
                                                        {"/dev/zero", ": is a device, a file is needed"}};
    for (const auto& [path, what] : refused)
        DOCTEST_CHECK(testing::message_of<InputError>([&] { require_readable(path); }) ==
                      path.string() + what);
    for (const fs::path& path : {folder / "pipe", fs::path("-"), fs::path("/dev/null")})
        DOCTEST_CHECK_NOTHROW(require_readable(path));
}

DOCTEST_TEST_CASE("files: whoever reads while a file is replaced sees the old one or the new one, whole") {
    const testing::TempDir folder;
    const auto write = [&](char letter) {
        write_atomically(folder / "out", Overwrite::allow, [&](std::ostream& out) {
            for (int i = 0; i < 100; ++i)
                out << std::string(1000, letter) << std::flush;
        });
    };
    write('a');
    std::atomic<bool> done{false};
    std::atomic<int> torn{0}, reads{0};
    {
        std::jthread reader([&] {
            while (!done || reads < 20) {
                const std::string text = testing::read_file(folder / "out");
                torn += text != std::string(100'000, 'a') && text != std::string(100'000, 'b');
                ++reads;
            }
        });
        for (int round = 0; round < 40; ++round)
            write(round % 2 == 0 ? 'b' : 'a');
        done = true;
    }
    DOCTEST_CHECK(torn == 0);
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: a disk that is full is said, and leaves the old file") {
    const testing::TempDir folder;
    testing::write_file(folder / "out", "old");
    const ChildResult child = run_child(
        [&] {
            std::signal(SIGXFSZ, SIG_IGN);
            const rlimit small{50'000, 50'000};
            ::setrlimit(RLIMIT_FSIZE, &small);
            try {
                write_atomically(folder / "out", Overwrite::allow,
                                 [](std::ostream& out) { out << std::string(200'000, 'x'); });
            } catch (const WriteError& error) {
                std::fputs(error.what(), stdout);
                return static_cast<int>(error.code());
            }
            return 0;
        },
        std::chrono::seconds(60));
    DOCTEST_CHECK(child.code == 74);
    DOCTEST_CHECK(child.out == (folder / "out").string() + ": writing failed: File too large");
    DOCTEST_CHECK(testing::read_file(folder / "out") == "old");
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: what is pending lies hidden beside its target, and leftovers of before are gone") {
    const testing::TempDir folder;
    fs::path left;
    {
        const PendingOutput pending(folder / "run", Overwrite::refuse, PendingOutput::Kind::folder);
        left = pending.path();
        DOCTEST_CHECK(left.parent_path() == folder.path());
        DOCTEST_CHECK(left.filename().string().starts_with(".run.tmp."));
        DOCTEST_CHECK(pending.target() == folder / "run");
        DOCTEST_CHECK(fs::is_empty(left));
    }
    DOCTEST_CHECK(!fs::exists(left));
    fs::create_directory(left);  // as a killed run left it
    testing::write_file(left / "half", "half");
    PendingOutput again(folder / "run", Overwrite::refuse, PendingOutput::Kind::folder);
    DOCTEST_CHECK(!fs::exists(left));
    DOCTEST_CHECK(fs::is_empty(again.path()));
    again.commit();
    DOCTEST_CHECK(fs::is_directory(folder / "run"));
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: a folder that appeared meanwhile is not replaced unless that was allowed") {
    const testing::TempDir folder;
    PendingOutput pending(folder / "run", Overwrite::refuse, PendingOutput::Kind::folder);
    fs::create_directory(folder / "run");
    testing::write_file(folder / "run/theirs", "theirs");
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { pending.commit(); }) ==
                  (folder / "run").string() +
                      ": appeared while this was being written; give another --output, or --force to "
                      "replace it");
    DOCTEST_CHECK(testing::read_file(folder / "run/theirs") == "theirs");
}

DOCTEST_TEST_CASE("files: what cannot be synced or put in place is a failed write") {
    const testing::TempDir folder;
    PendingOutput pending(folder / "out", Overwrite::allow);
    fs::remove(pending.path());
    DOCTEST_CHECK_THROWS_AS(pending.commit(), WriteError);
    PendingOutput onto_folder(folder / "file", Overwrite::allow);
    testing::write_file(onto_folder.path(), "text");
    onto_folder.commit();
    DOCTEST_CHECK(testing::read_file(folder / "file") == "text");
}

DOCTEST_TEST_CASE("files: a folder without permission is a refusal before the work, not after it") {
    const testing::TempDir folder;
    fs::permissions(folder.path(), fs::perms{0755});
    testing::write_file(folder / "secret", "x");
    fs::permissions(folder / "secret", fs::perms{0});
    fs::create_directory(folder / "closed");
    fs::permissions(folder / "closed", fs::perms{0});
    const ChildResult child = run_child(
        [&] {
            fs::permissions(folder.path(), fs::perms{0555});
            if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;  // root may do everything
            std::puts(testing::message_of<ConfigError>([&] {
                          prepare_output(folder / "out", Overwrite::refuse);
                      }).c_str());
            std::puts(testing::message_of<InputError>([&] { require_readable(folder / "secret"); }).c_str());
            std::puts(testing::message_of<ConfigError>([&] {
                          prepare_output(folder / "closed/out", Overwrite::refuse);
                      }).c_str());
            std::puts(
                testing::message_of<ReadError>([&] { require_readable(folder / "closed/in"); }).c_str());
            return 0;
        },
        std::chrono::seconds(60));
    if (::geteuid() != 0) fs::permissions(folder.path(), fs::perms{0755});
    DOCTEST_CHECK(child.out ==
                  folder.path().string() + ": this output folder cannot be written to: Permission denied\n" +
                      (folder / "secret").string() + ": cannot be read: Permission denied\n" +
                      (folder / "closed/out").string() + ": this output cannot be made: Permission denied\n" +
                      (folder / "closed/in").string() + ": cannot be read: Permission denied\n");
    fs::permissions(folder / "closed", fs::perms{0700});
}

DOCTEST_TEST_CASE("files: where what was replaced cannot be removed, it is said") {
    const testing::TempDir folder;
    fs::permissions(folder.path(), fs::perms{0777});
    fs::create_directory(folder / "run");
    testing::write_file(folder / "run/manifest.json", R"({"made_by": "bigbird-dna"})");
    const ChildResult child = run_child(
        [&] {
            if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;
            PendingOutput run(folder / "run", Overwrite::allow, PendingOutput::Kind::folder);
            run.commit();
            return 0;
        },
        std::chrono::seconds(60));
    if (::geteuid() != 0) return;  // the folder is this user's, who can remove it
    DOCTEST_CHECK(child.code == 0);
    DOCTEST_CHECK(child.err.find("run: what it replaced cannot be removed and lies in ") !=
                  std::string::npos);
}

DOCTEST_TEST_CASE(
    "files: leftovers of dead runs are removed, those of living runs and of others' outputs are not") {
    const testing::TempDir folder;
    const std::vector<std::string> dead{".out.tmp.1", ".out.tmp.99999999", ".out.tmp.12"};
    const std::vector<std::string> kept{".out.tmp.", ".out.tmp.x1", ".other.tmp.12", "out.tmp.12",
                                        ".out.txt.tmp.12"};
    for (const std::string& name : dead)
        testing::write_file(folder / name, "half");
    fs::create_directories(folder / ".out.tmp.44/deep");
    for (const std::string& name : kept)
        testing::write_file(folder / name, "theirs");
    testing::write_file(folder / ".out.tmp.45", "half");
    const int living = ::open((folder / ".out.tmp.45").c_str(), O_RDONLY | O_CLOEXEC);
    DOCTEST_REQUIRE(::flock(living, LOCK_EX | LOCK_NB) == 0);
    const PendingOutput second(folder / "out", Overwrite::allow);
    DOCTEST_CHECK(testing::read_file(folder / ".out.tmp.45") == "half");
    ::close(living);
    for (const std::string& name : kept) {
        DOCTEST_CAPTURE(name);
        DOCTEST_CHECK(testing::read_file(folder / name) == "theirs");
    }
    DOCTEST_CHECK(entries(folder.path()) == kept.size() + 2);
}

DOCTEST_TEST_CASE("files: a run that was killed leaves what the next run of the output removes") {
    const testing::TempDir folder;
    const ChildResult child = run_child(
        [&] {
            const PendingOutput file(folder / "out", Overwrite::refuse);
            const PendingOutput directory(folder / "run", Overwrite::refuse, PendingOutput::Kind::folder);
            testing::write_file(directory.path() / "half", "half");
            return ::kill(::getpid(), SIGKILL);
        },
        std::chrono::seconds(60));
    DOCTEST_CHECK(child.code == 128 + SIGKILL);
    DOCTEST_CHECK(entries(folder.path()) == 2);
    prepare_output(folder / "out", Overwrite::refuse);
    prepare_output(folder / "run/", Overwrite::refuse);
    DOCTEST_CHECK(entries(folder.path()) == 0);
}

DOCTEST_TEST_CASE("files: an output that is a link is replaced, not what it points to") {
    const testing::TempDir folder, elsewhere;
    testing::write_file(elsewhere / "victim", "theirs");
    fs::create_symlink(elsewhere / "victim", folder / "out");
    write_atomically(folder / "out", Overwrite::allow, [](std::ostream& out) { out << "ours"; });
    DOCTEST_CHECK(testing::read_file(elsewhere / "victim") == "theirs");
    DOCTEST_CHECK(!fs::is_symlink(folder / "out"));
    DOCTEST_CHECK(testing::read_file(folder / "out") == "ours");
    DOCTEST_CHECK(entries(folder.path()) == 1);

    fs::create_directory_symlink(elsewhere.path(), folder / "run");
    PendingOutput run(folder / "run", Overwrite::allow, PendingOutput::Kind::folder);
    testing::write_file(run.path() / "new", "new");
    run.commit();
    DOCTEST_CHECK(!fs::is_symlink(folder / "run"));
    DOCTEST_CHECK(entries(elsewhere.path()) == 1);
}

DOCTEST_TEST_CASE("files: a parent that is a file, and without force a link to nothing, are refused") {
    const testing::TempDir folder;
    testing::write_file(folder / "file", "");
    DOCTEST_CHECK_THROWS_AS(prepare_output(folder / "file/out", Overwrite::refuse), ConfigError);
    fs::create_symlink(folder / "nowhere", folder / "out");
    DOCTEST_CHECK_THROWS_AS(prepare_output(folder / "out", Overwrite::refuse), ConfigError);
    DOCTEST_CHECK(!fs::exists(folder / "nowhere"));
}

DOCTEST_TEST_CASE("files: a link to nothing takes the name of an output, and is no input") {
    const testing::TempDir folder;
    fs::create_symlink("nowhere", folder / "link");
    DOCTEST_CHECK(!is_there(folder / "link"));
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] {
                      write_atomically(folder / "link", Overwrite::refuse, [](std::ostream&) {});
                  }) == (folder / "link").string() +
                            ": exists already; give another --output, or --force to replace it");
    fs::create_symlink("circle", folder / "circle");
    DOCTEST_CHECK_THROWS_AS(is_there(folder / "circle"), ReadError);
}

DOCTEST_TEST_CASE("files: outputs have the permissions of the umask") {
    const testing::TempDir folder;
    const ::mode_t before = ::umask(027);
    PendingOutput file(folder / "file", Overwrite::refuse);
    PendingOutput directory(folder / "directory", Overwrite::refuse, PendingOutput::Kind::folder);
    file.commit();
    directory.commit();
    ::umask(before);
    DOCTEST_CHECK(fs::status(folder / "file").permissions() == fs::perms{0640});
    DOCTEST_CHECK(fs::status(folder / "directory").permissions() == fs::perms{0750});
}

DOCTEST_TEST_CASE("files: outputs that belong together appear together or not at all") {
    const testing::TempDir folder;
    testing::write_file(folder / "b", "old");
    {
        PendingOutput a(folder / "a", Overwrite::refuse), b(folder / "b", Overwrite::allow),
            c(folder / "c", Overwrite::refuse, PendingOutput::Kind::folder),
            d(folder / "d", Overwrite::refuse);
        b.write([](std::ostream& out) { out << "new"; });
        testing::write_file(folder / "d", "theirs");  // appears meanwhile
        const std::array<PendingOutput*, 4> all{&a, &b, &c, &d};
        DOCTEST_CHECK_THROWS_AS(commit_together(all), ConfigError);
    }
    DOCTEST_CHECK(testing::read_file(folder / "b") == "old");
    DOCTEST_CHECK(testing::read_file(folder / "d") == "theirs");
    DOCTEST_CHECK(entries(folder.path()) == 2);
    {
        PendingOutput a(folder / "a", Overwrite::refuse), b(folder / "b", Overwrite::allow);
        b.write([](std::ostream& out) { out << "new"; });
        const std::array<PendingOutput*, 2> all{&a, &b};
        commit_together(all);
    }
    DOCTEST_CHECK(testing::read_file(folder / "b") == "new");
    DOCTEST_CHECK(entries(folder.path()) == 3);
}

DOCTEST_TEST_CASE("files: what lay aside while a killed run replaced it comes back") {
    const testing::TempDir folder;
    fs::create_directory(folder / ".run.tmp.99999999.old");
    testing::write_file(folder / ".run.tmp.99999999.old/theirs", "theirs");
    testing::write_file(folder / ".run.tmp.99999999.old/manifest.json", R"({"made_by": "bigbird-dna"})");
    prepare_output(folder / "run", Overwrite::allow);
    DOCTEST_CHECK(testing::read_file(folder / "run/theirs") == "theirs");
    DOCTEST_CHECK(entries(folder.path()) == 1);
}

DOCTEST_TEST_CASE("files: what lies aside while another run puts its output in place is left to that run") {
    const testing::TempDir folder;
    const fs::path old = folder / ".run.tmp.7.old", temporary = folder / ".run.tmp.7";
    const auto lock = [](const fs::path& made) {
        const int handle = ::open(made.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DOCTEST_REQUIRE(::flock(handle, LOCK_EX | LOCK_NB) == 0);
        return handle;
    };
    fs::create_directory(old);
    fs::create_directory(temporary);
    const int handle = lock(temporary);  // between its two renames
    prepare_output(folder / "run", Overwrite::allow);
    DOCTEST_CHECK((fs::exists(old) && fs::exists(temporary) && !fs::exists(folder / "run")));
    fs::rename(temporary, folder / "run");  // after them: its other outputs may fail still
    prepare_output(folder / "run", Overwrite::allow);
    DOCTEST_CHECK(fs::exists(old));
    ::close(handle);
    prepare_output(folder / "run", Overwrite::allow);
    DOCTEST_CHECK_FALSE(fs::exists(old));
}

DOCTEST_TEST_CASE(
    "files: a disk that gives out is a failed write, a place that does not allow it a wrong option") {
    DOCTEST_CHECK_THROWS_AS(throw_cannot_be_made("out", ENOSPC), WriteError);
    DOCTEST_CHECK_THROWS_AS(throw_cannot_be_made("out", EDQUOT), WriteError);
    DOCTEST_CHECK_THROWS_AS(throw_cannot_be_made("out", EACCES), ConfigError);
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { throw_cannot_be_made("out", EACCES); }) ==
                  "out: this output cannot be made: Permission denied");
}

DOCTEST_TEST_CASE("files: what is removed quietly is a file, a folder, a link alone, or nothing") {
    const testing::TempDir folder;
    testing::write_file(folder / "file", "x");
    fs::create_directories(folder / "deep/er");
    testing::write_file(folder / "deep/er/file", "x");
    fs::create_directory_symlink(folder / "deep", folder / "link");
    remove_quietly(folder / "link");
    DOCTEST_CHECK(fs::exists(folder / "deep/er/file"));
    for (const char* name : {"file", "deep", "none"})
        remove_quietly(folder / name);
    DOCTEST_CHECK(entries(folder.path()) == 0);
}

DOCTEST_TEST_CASE("files: where the current folder is gone, the reason is told") {
    const ChildResult child = run_child(
        [] {
            {
                const testing::TempDir gone;
                fs::current_path(gone.path());
            }
            std::puts(testing::message_of<ConfigError>([] {
                          PendingOutput pending("out", Overwrite::refuse);
                      }).c_str());
            return 0;
        },
        std::chrono::seconds(60));
    DOCTEST_CHECK(child.out.find("No such file or directory") != std::string::npos);
}

DOCTEST_TEST_CASE("files: the entries of a folder are listed, none of what is not there") {
    const testing::TempDir folder;
    DOCTEST_CHECK(entries_of(folder.path()).empty());
    DOCTEST_CHECK(entries_of(folder / "none").empty());
    testing::write_file(folder / ".hidden", "x");
    fs::create_directory(folder / "deep");
    testing::write_file(folder / "deep/file", "x");
    std::vector<fs::path> found = entries_of(folder.path());
    std::sort(found.begin(), found.end());
    DOCTEST_CHECK(found == std::vector<fs::path>{folder / ".hidden", folder / "deep"});
}
